
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
        ('tasks', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='revision',
            name='former_status',
            field=models.CharField(blank=True, max_length=16),
        ),
        migrations.CreateModel(
            name='Export',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('author', models.CharField(max_length=200)),
                ('is_operator', models.BooleanField(default=False)),
                ('format', models.CharField(max_length=64)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('claim', models.PositiveIntegerField(default=0)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('split', models.CharField(blank=True, max_length=64)),
                ('status', models.CharField(blank=True, max_length=16)),
                ('on_loss', models.CharField(max_length=16)),
                ('state', models.CharField(choices=[('writing', 'Writing'), ('done', 'Ready to be fetched'), ('failed', 'Failed')], max_length=16)),
                ('has_file', models.BooleanField(default=False)),
                ('file_name', models.CharField(max_length=255)),
                ('tasks_total', models.PositiveIntegerField(default=0)),
                ('tasks', models.PositiveIntegerField(default=0)),
                ('rows', models.PositiveIntegerField(default=0)),
                ('refused', models.PositiveIntegerField(default=0)),
                ('lossy', models.PositiveIntegerField(default=0)),
                ('bytes_total', models.BigIntegerField(default=0)),
                ('api_key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='accounts.apikey')),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exports', to='tasks.environment')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('author', models.CharField(max_length=200)),
                ('is_operator', models.BooleanField(default=False)),
                ('format', models.CharField(max_length=64)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('claim', models.PositiveIntegerField(default=0)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('split', models.CharField(max_length=64)),
                ('file_name', models.CharField(blank=True, max_length=255)),
                ('mapping', models.JSONField(blank=True, null=True)),
                ('roles', models.JSONField(blank=True, default=dict)),
                ('update', models.BooleanField(default=False)),
                ('has_file', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('reading', 'Reading'), ('proposed', 'Waiting to be accepted'), ('writing', 'Writing'), ('done', 'Imported'), ('failed', 'Failed'), ('undoing', 'Undoing'), ('undone', 'Undone')], max_length=16)),
                ('bytes_total', models.BigIntegerField(default=0)),
                ('bytes_read', models.BigIntegerField(default=0)),
                ('rows_read', models.PositiveIntegerField(default=0)),
                ('created', models.PositiveIntegerField(default=0)),
                ('updated', models.PositiveIntegerField(default=0)),
                ('unchanged', models.PositiveIntegerField(default=0)),
                ('refused', models.PositiveIntegerField(default=0)),
                ('drafts', models.PositiveIntegerField(default=0)),
                ('kinds', models.JSONField(blank=True, default=dict)),
                ('codes', models.JSONField(blank=True, default=list)),
                ('removed', models.PositiveIntegerField(default=0)),
                ('archived', models.PositiveIntegerField(default=0)),
                ('restored', models.PositiveIntegerField(default=0)),
                ('left', models.PositiveIntegerField(default=0)),
                ('undone_to', models.BigIntegerField(default=0)),
                ('api_key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='accounts.apikey')),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='tasks.environment')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.AddField(
            model_name='revision',
            name='made_by_import',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='revisions', to='tasks.import'),
        ),
        migrations.AddIndex(
            model_name='revision',
            index=models.Index(condition=models.Q(('made_by_import__isnull', False)), fields=['made_by_import', 'task'], name='revision_of_import'),
        ),
        migrations.AddIndex(
            model_name='export',
            index=models.Index(condition=models.Q(('state', 'writing')), fields=['lease_expires_at'], name='export_open'),
        ),
        migrations.AddConstraint(
            model_name='export',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['writing', 'done', 'failed'])), name='export_state_is_known'),
        ),
        migrations.AddIndex(
            model_name='import',
            index=models.Index(condition=models.Q(('state__in', ['reading', 'writing', 'undoing'])), fields=['lease_expires_at'], name='import_open'),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['reading', 'proposed', 'writing', 'done', 'failed', 'undoing', 'undone'])), name='import_state_is_known'),
        ),
    ]
