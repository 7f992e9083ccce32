import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { SECRET_REFERENCE } from "./shared-schemas.ts";

const URL = { type: "string", description: "Where the remote cluster is served. Set by the server." } as const;
const TLS = { type: "string", enum: ["Agent", "EndToEnd"] } as const;
const TIME = { type: "string", format: "date-time" } as const;

/**
 * The ClusterProxy of kcp's proposal (`proxy.kcp.io/v1alpha1`): a cluster that nobody can dial, and whose agent dials a hub. It keeps kcp's contract of
 * mount objects, `status.URL` and `status.phase`, so that workspaces can show it.
 */
export const ClusterProxy = kcpKind({
  group: "proxy.kcp.io",
  kind: "ClusterProxy",
  description: "A remote cluster, which is reached through a tunnel that its agent dials.",
  columns: {
    Phase: { jsonPath: ".status.phase", description: "How it is: it can be used while Ready." },
    Agent: { jsonPath: ".status.agent.version", description: "The version of its agent." },
    Heartbeat: {
      jsonPath: ".status.agent.lastHeartbeatTime",
      type: "date",
      description: "When its agent was last heard of.",
    },
    TLS: { jsonPath: ".status.tls", priority: 1, description: "Who talks TLS with its API server." },
    URL: { jsonPath: ".status.URL", priority: 1, description: "Where it is served." },
  },
  required: [],
  spec: {
    type: "object",
    default: {},
    description: "How it is reached.",
    "x-kubernetes-validations": [
      {
        rule: "!has(self.tls) || self.tls != 'EndToEnd' || has(self.secretRef)",
        message: "secretRef: name a Secret with a credential for the remote API server, which tls EndToEnd needs",
      },
      {
        rule: "(has(self.tls) && self.tls == 'EndToEnd') || (!has(self.secretRef) && !has(self.serverName))",
        message: "secretRef and serverName are for tls EndToEnd: with Agent the agent holds the credential",
      },
    ],
    properties: {
      type: {
        type: "string",
        default: "passthrough",
        enum: ["passthrough"],
        description:
          "passthrough: requests pass as they are, and the remote cluster decides what callers may do there.",
      },
      tls: {
        ...TLS,
        default: "Agent",
        description:
          "Who talks TLS with the remote API server. Agent: its agent, which holds the credential, knows each request and may refuse it. EndToEnd: the hub, by the credential in secretRef; the agent and other hubs on the way pass bytes that they cannot read.",
      },
      secretRef: {
        ...SECRET_REFERENCE,
        description:
          "EndToEnd alone: the Secret with a credential that may impersonate users and groups there: token, or tls.crt and tls.key, or kubeconfig; ca.crt says who certifies the API server. Whoever writes this must be able to get it.",
      },
      serverName: {
        type: "string",
        minLength: 1,
        maxLength: 253,
        pattern: "^[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$",
        description:
          "EndToEnd alone: the name or address that the API server's certificate is for. What a kubeconfig in the Secret says, or kubernetes.default.svc, if missing.",
      },
      replacesWorkspace: {
        type: "boolean",
        default: false,
        description:
          "Whether kubectl ws enters the remote cluster in place of the workspace that holds this; ws use --direct enters the workspace. Of several the oldest counts.",
      },
      revokedBefore: {
        ...TIME,
        description:
          "Agents that were enrolled before this time are let in no more, and their tunnels end: set it to now, and enrol the agent again.",
      },
    },
  },
  status: {
    type: "object",
    default: {},
    description: "How it is.",
    properties: {
      phase: {
        type: "string",
        default: "Initializing",
        enum: ["Initializing", "Connecting", "Ready", "Unknown"],
        description: "How it is: it can be used while Ready. Connecting: its agent is waited for.",
      },
      conditions: CONDITIONS,
      tls: { ...TLS, description: "Who talks TLS with the remote API server." },
      URL,
      virtualWorkspaces: {
        type: "array",
        description: "Where it is served, by each hub.",
        items: { type: "object", required: ["url"], properties: { url: URL } },
      },
      agent: {
        type: "object",
        description: "The agent, as its hubs know it.",
        properties: {
          version: { type: "string", description: "Its version." },
          tls: { ...TLS, description: "What it is there for, as it was started." },
          lastHeartbeatTime: { ...TIME, description: "When it was last heard of, within a minute or so." },
          hubs: {
            type: "array",
            items: { type: "string" },
            description: "The hubs that have a tunnel of it, by the holders of their Leases.",
          },
          epoch: {
            type: "integer",
            format: "int64",
            description: "How many agents there have been: an agent that starts ends the one before.",
          },
          enrolment: {
            type: "object",
            description: "The last one. Certificates of enrolments before it are good no more.",
            required: ["id", "tokenIssued", "time"],
            properties: {
              id: { type: "string", description: "Which one it is: its certificates say so." },
              tokenIssued: {
                type: "number",
                description: "When its token was made, s since 1970: no token is good that is as old or older.",
              },
              time: { ...TIME, description: "When it was." },
            },
          },
          certificateExpires: { ...TIME, description: "When the agent's certificate ends, unless it is renewed." },
        },
      },
    },
  },
});

/** A remote cluster, as it is read. */
export type ClusterProxy = ObjectsOf<typeof ClusterProxy>;

/** How a remote cluster is. */
export type ClusterProxyStatus = NonNullable<ClusterProxy["status"]>;

/** What hubs know of its agent. */
export type ClusterProxyAgent = NonNullable<ClusterProxyStatus["agent"]>;

/** The name of the APIExport in `root` that workspaces have ClusterProxies by. */
export const CLUSTER_PROXY_EXPORT = "cluster.proxy.kcp.io";
