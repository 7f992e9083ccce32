// Starts the oracle, test/go/oracle.
import { goProgram } from "../go/support/build.ts";
import { Program } from "../go/support/program.ts";
import type { Target } from "./caller.ts";
import { crdOf } from "./crd.ts";
import type { DifferentialKind } from "./kinds/kind.ts";

export interface Oracle extends Target, AsyncDisposable {}

/** Starts an oracle that serves `kinds`. */
export async function startOracle(kinds: readonly DifferentialKind[]): Promise<Oracle> {
  const program = new Program(goProgram("oracle", "oracle"), [], {});
  program.say(JSON.stringify(kinds.map(crdOf)));
  const line = await program.until("a line of the oracle", () => program.lines[0], 60_000);
  const { url, token, ca, name } = JSON.parse(line) as Record<"url" | "token" | "ca" | "name", string>;
  return {
    url,
    headers: { authorization: `Bearer ${token}` },
    tls: { ca, servername: name },
    [Symbol.asyncDispose]: async () => {
      program.endInput();
      await program.ended;
      await program[Symbol.asyncDispose]();
    },
  };
}
