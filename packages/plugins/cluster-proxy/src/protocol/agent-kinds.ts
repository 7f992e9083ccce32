import { defineResource, type Resource } from "@virtual-workspaces/framework";

const GROUP = { group: "agents.proxy.kcp.io", version: "v1alpha1", scope: "Cluster" } as const;
const TIME = { type: "string", format: "date-time" } as const;

/** How long tokens for new agents are good, s. */
export const TOKEN_SECONDS = { least: 60, usual: 600, most: 86_400 } as const;

/** What an {@link AgentToken} holds. */
export interface AgentTokenContent {
  readonly spec: { readonly expirationSeconds?: number };
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
}

/** What an {@link AgentCertificate} holds. */
export interface AgentCertificateContent {
  readonly spec: { readonly request: string };
  readonly status?: { readonly certificate?: string; readonly expirationTimestamp?: string };
}

/** A token for one new agent. It is only created, as a TokenRequest is; the token is in the answer, and nowhere else. */
export const AgentToken: Resource<AgentTokenContent> = defineResource({
  ...GROUP,
  kind: "AgentToken",
  description: "A token by which one agent is enrolled, once.",
  spec: {
    type: "object",
    default: {},
    properties: {
      expirationSeconds: {
        type: "integer",
        minimum: TOKEN_SECONDS.least,
        maximum: TOKEN_SECONDS.most,
        default: TOKEN_SECONDS.usual,
        description: "How long it is good.",
      },
    },
  },
  status: {
    type: "object",
    properties: { token: { type: "string" }, expirationTimestamp: TIME },
  },
});

/** An agent's certificate. It is only created, as a CertificateSigningRequest, by who has a token for it or the certificate before. */
export const AgentCertificate: Resource<AgentCertificateContent> = defineResource({
  ...GROUP,
  kind: "AgentCertificate",
  description: "A certificate for an agent's key.",
  spec: {
    type: "object",
    required: ["request"],
    properties: {
      request: { type: "string", minLength: 1, maxLength: 16_384, description: "PKCS #10, in PEM, of a key on P-256." },
    },
  },
  status: {
    type: "object",
    properties: { certificate: { type: "string", description: "PEM." }, expirationTimestamp: TIME },
  },
});

/** What an {@link AgentHub} holds. */
export interface AgentHubContent {
  readonly status?: { readonly url?: string; readonly certificateAuthority?: string };
}

/** A hub that an agent can dial: each is one process of those that serve the view. Only listed. */
export const AgentHub: Resource<AgentHubContent> = defineResource({
  ...GROUP,
  kind: "AgentHub",
  description: "A hub that an agent can dial.",
  columns: { URL: { jsonPath: ".status.url", description: "Where it is dialled." } },
  status: {
    type: "object",
    properties: {
      url: { type: "string", description: "Where it is dialled, for this ClusterProxy." },
      certificateAuthority: {
        type: "string",
        description: "Who certifies it, PEM. Whom the machine trusts if missing.",
      },
    },
  },
});
