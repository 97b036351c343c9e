"""A WhatsApp to test on: the Graph API on loopback, people who write and tap, and pywa's word for what is posted."""

from farhand.testing.whatsapp.client import FakeWhatsApp, NeverCame, PhonePerson, fake_whatsapp
from farhand.testing.whatsapp.words import GraphCall, GraphFault, PhoneMessage

__all__ = ["FakeWhatsApp", "GraphCall", "GraphFault", "NeverCame", "PhoneMessage", "PhonePerson", "fake_whatsapp"]
