"""Numbers in addresses that every database can look up."""

from django.urls.converters import IntConverter


class NumberConverter(IntConverter):
    """At most 18 digits, as 64 bits hold them; longer ones are no address of ours."""

    regex = "[0-9]{1,18}"
