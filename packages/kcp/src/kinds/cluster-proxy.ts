import { CONDITIONS } from "../conditions.ts";
import { kcpKind, type ObjectsOf } from "./kind.ts";
import { SECRET_REFERENCE } from "./shared-schemas.ts";

const URL = { type: "string", description: "URL of the remote cluster. Set by the server." } as const;
const TLS = { type: "string", enum: ["Agent", "EndToEnd"] } as const;
const TIME = { type: "string", format: "date-time" } as const;

/**
 * ClusterProxy of kcp's proposal (`proxy.kcp.io/v1alpha1`): a cluster that cannot be dialed, and whose agent dials a hub. It keeps
 * kcp's contract of mount objects, `status.URL` and `status.phase`, so that workspaces can mount it.
 */
export const ClusterProxy = kcpKind({
  group: "proxy.kcp.io",
  kind: "ClusterProxy",
  description: "Remote cluster, reached through a tunnel that its agent dials.",
  columns: {
    Phase: { jsonPath: ".status.phase", description: "Phase of the cluster, usable while Ready." },
    Agent: { jsonPath: ".status.agent.version", description: "Version of the agent." },
    Heartbeat: {
      jsonPath: ".status.agent.lastHeartbeatTime",
      type: "date",
      description: "Time of the last sign of life of the agent.",
    },
    TLS: { jsonPath: ".status.tls", priority: 1, description: "TLS client of the API server." },
    URL: { jsonPath: ".status.URL", priority: 1, description: "URL of the cluster." },
  },
  required: [],
  spec: {
    type: "object",
    default: {},
    description: "Connection to the cluster.",
    "x-kubernetes-validations": [
      {
        rule: "!has(self.tls) || self.tls != 'EndToEnd' || has(self.secretRef)",
        message: "secretRef is required for tls EndToEnd: name a Secret with a credential for the remote API server",
      },
      {
        rule: "(has(self.tls) && self.tls == 'EndToEnd') || (!has(self.secretRef) && !has(self.serverName))",
        message:
          "secretRef and serverName are only for tls EndToEnd: remove them, since the agent holds the credential",
      },
    ],
    properties: {
      type: {
        type: "string",
        default: "passthrough",
        enum: ["passthrough"],
        description: "passthrough: requests are forwarded unchanged, and the remote cluster authorizes callers.",
      },
      tls: {
        ...TLS,
        default: "Agent",
        description:
          "TLS client of the remote API server. Agent: its agent, which holds the credential, sees each request and may reject it. EndToEnd: the hub, with the credential in secretRef; the agent and other hubs only forward encrypted bytes.",
      },
      secretRef: {
        ...SECRET_REFERENCE,
        description:
          "For EndToEnd only: Secret with a credential that may impersonate users and groups there: token, or tls.crt and tls.key, or kubeconfig; ca.crt certifies the API server. The author of this object must be allowed to get the Secret.",
      },
      serverName: {
        type: "string",
        minLength: 1,
        maxLength: 253,
        pattern: "^[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$",
        description:
          "For EndToEnd only: name or address in the API server's certificate. Defaults to the server name of the Secret's kubeconfig, else kubernetes.default.svc.",
      },
      replacesWorkspace: {
        type: "boolean",
        default: false,
        description:
          "Whether kubectl ws enters the remote cluster instead of the workspace that holds this object; ws use --direct enters the workspace. The oldest object counts if there are several.",
      },
      revokedBefore: {
        ...TIME,
        description:
          "Agents that were enrolled before this time are rejected and their tunnels closed. Set it to now, then enroll the agent again.",
      },
    },
  },
  status: {
    type: "object",
    default: {},
    description: "Observed state.",
    properties: {
      phase: {
        type: "string",
        default: "Initializing",
        enum: ["Initializing", "Connecting", "Ready", "Unknown"],
        description:
          "Phase of the cluster, usable while Ready. Connecting: the hub waits for the agent, or the agent for its API server.",
      },
      conditions: CONDITIONS,
      tls: { ...TLS, description: "TLS client of the remote API server." },
      URL,
      virtualWorkspaces: {
        type: "array",
        description: "URLs of the cluster, one for each hub.",
        items: { type: "object", required: ["url"], properties: { url: URL } },
      },
      agent: {
        type: "object",
        description: "Agent, as its hubs see it.",
        properties: {
          version: { type: "string", description: "Version of the agent." },
          tls: { ...TLS, description: "TLS mode that the agent was started with." },
          lastHeartbeatTime: { ...TIME, description: "Time of the agent's last sign of life, within about a minute." },
          hubs: {
            type: "array",
            items: { type: "string" },
            description: "Hubs with a tunnel to the agent, by the holders of their Leases.",
          },
          epoch: {
            type: "integer",
            format: "int64",
            description: "Number of the agent's runs: an agent that starts ends the previous run.",
          },
          enrolment: {
            type: "object",
            description: "Last enrollment. Certificates of earlier enrollments are not valid.",
            required: ["id", "tokenIssued", "time"],
            properties: {
              id: { type: "string", description: "ID of the enrollment, which its certificates contain." },
              tokenIssued: {
                type: "number",
                description:
                  "Creation time of the enrollment token, in s since 1970. Tokens that are as old or older are not valid.",
              },
              time: { ...TIME, description: "Time of the enrollment." },
            },
          },
          certificateExpires: { ...TIME, description: "Expiry of the agent's certificate, unless it is renewed." },
        },
      },
    },
  },
});

/** Remote cluster as clients read it. */
export type ClusterProxy = ObjectsOf<typeof ClusterProxy>;

/** Observed state of a remote cluster. */
export type ClusterProxyStatus = NonNullable<ClusterProxy["status"]>;

/** State of the agent as its hubs see it. */
export type ClusterProxyAgent = NonNullable<ClusterProxyStatus["agent"]>;

/** Name of the APIExport in `root` that provides ClusterProxies to workspaces. */
export const CLUSTER_PROXY_EXPORT = "cluster.proxy.kcp.io";
