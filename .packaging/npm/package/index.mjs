export { ConsoleError, Emulator, EmulatorError, NoPush, binaryPath, startEmulator } from "./index.js";
