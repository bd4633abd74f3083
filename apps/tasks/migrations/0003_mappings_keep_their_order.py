from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks', '0002_imports_and_exports'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='import',
            name='mapping',
        ),
        migrations.AddField(
            model_name='import',
            name='mapping_text',
            field=models.TextField(blank=True),
        ),
    ]
