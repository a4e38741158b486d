import os
import sys

CONFORMANCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path += [os.path.join(CONFORMANCE, "provider"), os.path.join(CONFORMANCE, "hostile")]
