import Console

extension EmulatorClock: ClockControl {}
