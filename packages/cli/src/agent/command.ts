import { type Command, parse, UsageError } from "../process/failure.ts";

const FLAGS = {
  "hub-kubeconfig": { type: "string" },
  "bootstrap-kubeconfig": { type: "string" },
  kubeconfig: { type: "string" },
  context: { type: "string" },
  "allow-file": { type: "string" },
  hubs: { type: "string" },
  "end-to-end": { type: "boolean" },
  "logging-format": { type: "string" },
  expires: { type: "string" },
} as const;

export const agent: Command = {
  help: `Usage: virtual-workspaces agent token <name> [flags] > bootstrap.kubeconfig
       virtual-workspaces agent --hub-kubeconfig <file> [flags]

The agent of a remote cluster that nobody can dial: it dials the hub that has its ClusterProxy, and gives it the cluster's API server, and nothing else.

"agent token" is for whoever has the ClusterProxy: in the workspace of the kubeconfig, it prints what one agent is enrolled by, once.
  --kubeconfig <file>, --context <name>   who asks, and in which workspace             (default as kubectl)
  --expires <time>                        how long it is good, 1m to 24h               (default 10m)

"agent" runs where the remote cluster can be reached:
  --hub-kubeconfig <file>                 where the agent keeps its certificate, which it renews by itself; nobody else may read it
  --bootstrap-kubeconfig <file>           what "agent token" has printed: until there is a certificate, and when it is taken no more
  --kubeconfig <file>, --context <name>   the remote cluster, by a credential that may impersonate users and groups
                                          (default as kubectl; in a pod its service account)
  --allow-file <file>                     what may be asked of it at most: rules as a ClusterRole has them, in YAML (default everything)
  --end-to-end                            hubs talk TLS with the API server, by a credential that the ClusterProxy names: bytes pass, of the
                                          kubeconfig the address counts, and nothing can be allowed or refused
  --hubs <number>                         how many hubs it has a tunnel to, where there are so many (default 2)
  --logging-format <format>               text or json, on stderr                      (default text)`,

  async run(args) {
    const { values, positionals } = parse(args, FLAGS);
    const [word, name, ...rest] = positionals;
    if (word === undefined) {
      if (values.expires !== undefined) throw new UsageError("--expires is for agent token");
      return (await import("./run.ts")).run(values);
    }
    if (word !== "token") throw new UsageError(`there is no agent ${word}: write agent token, or flags alone`);
    if (name === undefined || rest.length > 0)
      throw new UsageError("name the ClusterProxy, and one alone: agent token shop");
    const [other] = (
      ["hub-kubeconfig", "bootstrap-kubeconfig", "allow-file", "hubs", "logging-format"] as const
    ).filter((flag) => values[flag] !== undefined);
    if (other !== undefined) throw new UsageError(`--${other} is for the agent itself, not for agent token`);
    return (await import("./token.ts")).printToken({ name, ...values });
  },
};
