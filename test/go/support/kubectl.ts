// kubectl: the one built from its module, the installed one, and other versions beside it.
import { readdirSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { goProgram } from "./build.ts";
import { Program } from "./program.ts";

/** Environment of a kubectl. */
export interface KubectlHome {
  readonly home: string;
  readonly kubeconfig: string;
  /** More environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Exit code and output of a kubectl. */
export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns the kubectl that `npm run test:go` builds. */
export function builtKubectl(): string {
  return goProgram("clients", "kubectl");
}

/** Returns the installed kubectl, and its other versions (`kubectl.1.27`) if the distribution has them. */
export function machineKubectls(): string[] {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const own = join(folder, "kubectl");
    try {
      const home = dirname(realpathSync(own));
      const others = readdirSync(home).filter((name) => /^kubectl\.\d+\.\d+$/.test(name));
      return [own, ...others.sort().map((name) => join(home, name))];
    } catch {}
  }
  throw new Error("kubectl is not on the PATH");
}

/** Returns the name of the file: `kubectl.1.27`. */
export function nameOf(file: string): string {
  return basename(file);
}

/** Starts a kubectl that does not exit by itself: `get -w`, `wait`. */
export function startKubectl(file: string, { home, kubeconfig, env }: KubectlHome, args: readonly string[]): Program {
  return new Program(file, args, { HOME: home, KUBECONFIG: kubeconfig, KUBERC: "off", ...env });
}

/** Runs a kubectl until it exits. */
export async function kubectl(file: string, home: KubectlHome, args: readonly string[]): Promise<Output> {
  await using program = startKubectl(file, home, args);
  program.endInput();
  const { code } = await program.ended;
  return { code, stdout: program.lines.join("\n"), stderr: program.stderr.trimEnd() };
}
