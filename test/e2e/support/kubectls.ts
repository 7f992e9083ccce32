// The kubectls of this machine. Tests that need one are pending where there is none, and say so.
import { basename, delimiter } from "node:path";
import { machineKubectls } from "../../go/support/kubectl.ts";

/** The machine's own, versions beside it, and those that KUBECTL_MATRIX names, a list of paths like PATH. */
export function kubectls(): readonly string[] {
  const named = (process.env["KUBECTL_MATRIX"] ?? "").split(delimiter).filter((path) => path !== "");
  return [...new Set([...own(), ...named])];
}

function own(): string[] {
  try {
    return machineKubectls();
  } catch {
    return [];
  }
}

/** For `before`: a suite that runs kubectl is pending without one. */
export function needsKubectl(this: Mocha.Context): void {
  if (own().length === 0) this.skip();
}

/** `kubectl`, `kubectl.1.27`. */
export function nameOf(path: string): string {
  return basename(path);
}
