"""Tests of real devices. What holds for emulated ones too is in modules named `*_cases`, which tests above import."""
