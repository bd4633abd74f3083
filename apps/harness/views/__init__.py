"""What each address of the protocol answers; one module a subject."""
