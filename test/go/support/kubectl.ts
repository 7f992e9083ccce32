// kubectl: the one built from its module, the machine's own, and whatever others stand beside that one.
import { readdirSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { goProgram } from "./build.ts";
import { Program } from "./program.ts";

/** What a kubectl is run with. */
export interface KubectlHome {
  readonly home: string;
  readonly kubeconfig: string;
  /** What its environment says besides. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a kubectl ended, and what it wrote. */
export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The kubectl that `npm run test:go` builds. */
export function builtKubectl(): string {
  return goProgram("clients", "kubectl");
}

/** The machine's own, and its other versions (`kubectl.1.27`) where a distribution brings them along. */
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

/** The name of the file: `kubectl.1.27`. */
export function nameOf(file: string): string {
  return basename(file);
}

/** Starts a kubectl, for what does not end by itself: `get -w`, `wait`. */
export function startKubectl(file: string, { home, kubeconfig, env }: KubectlHome, args: readonly string[]): Program {
  return new Program(file, args, { HOME: home, KUBECONFIG: kubeconfig, KUBERC: "off", ...env });
}

/** Runs a kubectl to its end. */
export async function kubectl(file: string, home: KubectlHome, args: readonly string[]): Promise<Output> {
  await using program = startKubectl(file, home, args);
  program.endInput();
  const { code } = await program.ended;
  return { code, stdout: program.lines.join("\n"), stderr: program.stderr.trimEnd() };
}
