"""Wire formats: JSON that others write, to and from core values. Nothing here decides anything."""
