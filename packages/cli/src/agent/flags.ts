import { LOG_FORMAT_FLAGS } from "../flags/servers.ts";
import { commandLine, type FlagSet, type Values } from "../flags/table.ts";

/** Flags that select a server, as kubectl does. */
const SERVER = {
  kubeconfig: {
    type: "text",
    value: "file",
    otherwise: "like kubectl; in a pod, its service account",
    help: "For agent: the remote cluster, with a credential that may impersonate users and groups. For agent token: the workspace, and the calling user.",
  },
  context: { type: "text", value: "name", otherwise: "the current context", help: "Context of --kubeconfig." },
} as const satisfies FlagSet;

/** Flags of the agent alone. */
export const AGENT_FLAGS = {
  "hub-kubeconfig": {
    type: "text",
    value: "file",
    help: "File for the agent's certificate, which it renews by itself. Only its owner can read it.",
  },
  "bootstrap-kubeconfig": {
    type: "text",
    value: "file",
    help: 'Output of "agent token", used until there is a certificate, and when the certificate is rejected.',
  },
  "allow-file": {
    type: "text",
    value: "file",
    otherwise: "everything",
    help: "Upper limit on requests to the cluster: rules as in a ClusterRole, in YAML.",
  },
  hubs: {
    type: "text",
    value: "number",
    otherwise: "2",
    help: "Number of hubs to keep a tunnel to, if there are that many.",
  },
} as const satisfies FlagSet;

/** Command line of `virtual-workspaces agent`. */
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
      expires: { type: "text", value: "time", otherwise: "10m", help: "Lifetime of the token, 1m to 24h." },
    },
    agent: {
      ...AGENT_FLAGS,
      ...LOG_FORMAT_FLAGS,
      "end-to-end": {
        type: "switch",
        help: "Tunnel bytes only: hubs speak TLS with the API server, with a credential that the ClusterProxy names. Only the address of the kubeconfig is used, and --allow-file cannot apply.",
      },
    },
  },
});

/** Values of the flags. */
export type AgentFlags = Values<(typeof AGENT)["flags"]>;
