// The kubectl binaries of this machine. Tests that need one are pending without it, and say so.
import { basename, delimiter } from "node:path";
import { machineKubectls } from "../../go/support/kubectl.ts";

/**
 * Returns the machine's own kubectl, the oldest and the newest. It searches the PATH, versions beside that binary, and
 * KUBECTL_MATRIX, a list of paths like PATH. `KUBECTLS=between` returns all others, for a slow test.
 */
export function kubectls(): readonly string[] {
  const named = (process.env["KUBECTL_MATRIX"] ?? "").split(delimiter).filter((path) => path !== "");
  const [machines, ...others] = new Set([...own(), ...named]);
  if (process.env["KUBECTLS"] === "between") return others.slice(1, -1);
  return [machines, others[0], others.at(-1)].filter(
    (file, at, all) => file !== undefined && all.indexOf(file) === at,
  ) as string[];
}

/** Returns all binaries beside the machine's own; with `KUBECTLS=ends`, to save time, those of {@link kubectls}. */
export function allKubectls(): readonly string[] {
  return process.env["KUBECTLS"] === "ends" ? kubectls() : machineKubectls();
}

function own(): string[] {
  try {
    return machineKubectls();
  } catch {
    return [];
  }
}

/** For `before`: marks a suite that runs kubectl as pending without one. */
export function needsKubectl(this: Mocha.Context): void {
  if (own().length === 0) this.skip();
}

/** Returns a short name: `kubectl`, `kubectl.1.27`. */
export function nameOf(path: string): string {
  return basename(path);
}
