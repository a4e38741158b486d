import Testing

import Drill
