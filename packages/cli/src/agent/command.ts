import { readFlags } from "../flags/read.ts";
import { UsageError } from "../process/failure.ts";
import { AGENT, AGENT_FLAGS } from "./flags.ts";

/** Runs `virtual-workspaces agent`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { values, words } = readFlags(args, AGENT);
  const [word, name, ...rest] = words;
  if (word === undefined) {
    if (values.expires !== undefined) throw new UsageError("--expires is for agent token");
    return (await import("./run.ts")).run(values);
  }
  if (word !== "token") throw new UsageError(`there is no agent ${word}: write agent token, or flags alone`);
  if (name === undefined || rest.length > 0)
    throw new UsageError("name the ClusterProxy, and one alone: agent token shop");
  const other = Object.keys(AGENT_FLAGS).find((name) => values[name as keyof typeof AGENT_FLAGS] !== undefined);
  if (other !== undefined) throw new UsageError(`--${other} is for the agent itself, not for agent token`);
  return (await import("./token.ts")).printToken(name, values);
}
