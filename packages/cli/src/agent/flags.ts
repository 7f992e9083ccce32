import { LOG_FORMAT_FLAGS } from "../flags/servers.ts";
import { commandLine, type FlagSet, type Values } from "../flags/table.ts";

/** Which server is asked, as kubectl is told. */
const SERVER = {
  kubeconfig: {
    type: "text",
    value: "file",
    otherwise: "as kubectl; in a pod its service account",
    help: "Of the agent: the remote cluster, by a credential that may impersonate users and groups. Of agent token: the workspace, and the user who asks.",
  },
  context: { type: "text", value: "name", otherwise: "its current one", help: "Context of --kubeconfig." },
} as const satisfies FlagSet;

/** What is said to the agent alone. */
export const AGENT_FLAGS = {
  "hub-kubeconfig": {
    type: "text",
    value: "file",
    help: "Where the agent keeps its certificate, which it renews by itself; nobody else may read it.",
  },
  "bootstrap-kubeconfig": {
    type: "text",
    value: "file",
    help: 'What "agent token" has printed: until there is a certificate, and when it is rejected.',
  },
  "allow-file": {
    type: "text",
    value: "file",
    otherwise: "everything",
    help: "What may be asked of the cluster at most: rules as a ClusterRole has them, in YAML.",
  },
  hubs: {
    type: "text",
    value: "number",
    otherwise: "2",
    help: "How many hubs to have a tunnel to, where there are so many.",
  },
} as const satisfies FlagSet;

/** The command line of `virtual-workspaces agent`. */
export const AGENT = commandLine({
  program: "virtual-workspaces agent",
  words: "",
  summary: "connect a remote cluster through a tunnel that it dials",
  usage: ["token <name> [flags] > bootstrap.kubeconfig", "--hub-kubeconfig <file> [flags]"],
  description: `Connects a remote cluster to its hub. The agent dials the hub that has the ClusterProxy, and forwards requests to the API server of its cluster. It needs no open port.

"agent token" prints a kubeconfig with which one agent can enroll once. Run it in the workspace of the ClusterProxy. "agent" runs where the remote cluster can be reached.

Examples:
  virtual-workspaces agent token shop > bootstrap.kubeconfig
  virtual-workspaces agent --bootstrap-kubeconfig=bootstrap.kubeconfig --hub-kubeconfig=hub.kubeconfig`,
  actions: ["token"],
  sections: {
    Server: SERVER,
    "agent token": {
      expires: { type: "text", value: "time", otherwise: "10m", help: "How long the token is good, 1m to 24h." },
    },
    agent: {
      ...AGENT_FLAGS,
      ...LOG_FORMAT_FLAGS,
      "end-to-end": {
        type: "switch",
        help: "Hubs talk TLS with the API server, by a credential that the ClusterProxy names: bytes pass, of the kubeconfig the address counts, and nothing can be allowed or denied.",
      },
    },
  },
});

/** What it is given. */
export type AgentFlags = Values<(typeof AGENT)["flags"]>;
