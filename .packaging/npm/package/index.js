"use strict";

const { ConsoleError } = require("./lib/console.js");
const { Emulator, startEmulator } = require("./lib/emulator.js");
const { EmulatorError, binaryPath } = require("./lib/process.js");
const { NoPush } = require("./lib/pushes.js");

module.exports = { ConsoleError, Emulator, EmulatorError, NoPush, binaryPath, startEmulator };
