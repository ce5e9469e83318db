"""What all tests share: the property tests' settings."""

from hypothesis import HealthCheck, settings

# A shared machine is slow now and then: a property is about what holds, never about how long it took.
settings.register_profile("gpucost", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gpucost")
