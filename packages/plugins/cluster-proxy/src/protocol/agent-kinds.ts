import { defineResource, type Resource } from "@virtual-workspaces/framework";

const GROUP = { group: "agents.proxy.kcp.io", version: "v1alpha1", scope: "Cluster" } as const;
const TIME = { type: "string", format: "date-time" } as const;

/** Minimum, default and maximum lifetime of tokens for new agents, s. */
export const TOKEN_SECONDS = { least: 60, usual: 600, most: 86_400 } as const;

/** Fields of an {@link AgentToken}. */
export interface AgentTokenContent {
  readonly spec: { readonly expirationSeconds?: number };
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
}

/** Fields of an {@link AgentCertificate}. */
export interface AgentCertificateContent {
  readonly spec: { readonly request: string };
  readonly status?: { readonly certificate?: string; readonly expirationTimestamp?: string };
}

/** Token for one new agent. It supports only create, like TokenRequest; the token is in the response and not stored. */
export const AgentToken: Resource<AgentTokenContent> = defineResource({
  ...GROUP,
  kind: "AgentToken",
  description: "A token that enrolls one agent, once.",
  spec: {
    type: "object",
    default: {},
    properties: {
      expirationSeconds: {
        type: "integer",
        minimum: TOKEN_SECONDS.least,
        maximum: TOKEN_SECONDS.most,
        default: TOKEN_SECONDS.usual,
        description: "Lifetime of the token.",
      },
    },
  },
  status: {
    type: "object",
    properties: { token: { type: "string" }, expirationTimestamp: TIME },
  },
});

/** Certificate of an agent. It supports only create, like a CertificateSigningRequest, with a token or the previous certificate as credential. */
export const AgentCertificate: Resource<AgentCertificateContent> = defineResource({
  ...GROUP,
  kind: "AgentCertificate",
  description: "A certificate for an agent's key.",
  spec: {
    type: "object",
    required: ["request"],
    properties: {
      request: {
        type: "string",
        minLength: 1,
        maxLength: 16_384,
        description: "PKCS #10 request in PEM for a P-256 key.",
      },
    },
  },
  status: {
    type: "object",
    properties: { certificate: { type: "string", description: "PEM." }, expirationTimestamp: TIME },
  },
});

/** Fields of an {@link AgentHub}. */
export interface AgentHubContent {
  readonly status?: { readonly url?: string; readonly certificateAuthority?: string };
}

/** Hub with an address for agents: one of the processes that serve the view. It supports only list. */
export const AgentHub: Resource<AgentHubContent> = defineResource({
  ...GROUP,
  kind: "AgentHub",
  description: "A hub that agents can dial.",
  columns: { URL: { jsonPath: ".status.url", description: "URL for agents." } },
  status: {
    type: "object",
    properties: {
      url: { type: "string", description: "URL for the agent of this ClusterProxy." },
      certificateAuthority: {
        type: "string",
        description: "CA certificate of the URL, PEM. Defaults to those of the machine.",
      },
    },
  },
});
