// The kubectls of this machine. Tests that need one are pending where there is none, and say so.
import { basename, delimiter } from "node:path";
import { machineKubectls } from "../../go/support/kubectl.ts";

/**
 * The machine's own, versions beside it, and those that KUBECTL_MATRIX names, a list of paths like PATH: the machine's, the
 * oldest and the newest. With `KUBECTLS=between` all others, which a slow test asks for.
 */
export function kubectls(): readonly string[] {
  const named = (process.env["KUBECTL_MATRIX"] ?? "").split(delimiter).filter((path) => path !== "");
  const [machines, ...others] = new Set([...own(), ...named]);
  if (process.env["KUBECTLS"] === "between") return others.slice(1, -1);
  return [machines, others[0], others.at(-1)].filter(
    (file, at, all) => file !== undefined && all.indexOf(file) === at,
  ) as string[];
}

/** All that are beside the machine's own; with `KUBECTLS=ends`, where there is no time for them, as {@link kubectls}. */
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

/** For `before`: a suite that runs kubectl is pending without one. */
export function needsKubectl(this: Mocha.Context): void {
  if (own().length === 0) this.skip();
}

/** `kubectl`, `kubectl.1.27`. */
export function nameOf(path: string): string {
  return basename(path);
}
