"""`python -m collsynth` is the command `synth`."""

import sys

from ._command import main

sys.exit(main())
