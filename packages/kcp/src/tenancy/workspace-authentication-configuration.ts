import { kcpKind, type ObjectsOf } from "../core/kind.ts";
import { CLAIM_MAPPINGS, CLAIM_RULES } from "./claim-schemas.ts";

const ISSUER = {
  type: "object",
  description: "Who issues the tokens.",
  required: ["url"],
  properties: {
    url: { type: "string", description: "The issuer, as its tokens name it: https://…" },
    discoveryURL: {
      type: "string",
      description: "Where the issuer's keys are found. <url>/.well-known/openid-configuration if missing.",
    },
    certificateAuthority: { type: "string", description: "Who must have certified the issuer's server, PEM." },
    audiences: { type: "array", items: { type: "string" }, description: "Whom tokens must be meant for." },
    audienceMatchPolicy: { type: "string", description: "MatchAny: one of the audiences is enough." },
  },
} as const;

/**
 * kcp's WorkspaceAuthenticationConfiguration (`tenancy.kcp.io/v1alpha1`): whose tokens are taken, besides those that all
 * workspaces take, in the workspaces whose type names it. It has no status.
 */
export const WorkspaceAuthenticationConfiguration = kcpKind({
  group: "tenancy.kcp.io",
  kind: "WorkspaceAuthenticationConfiguration",
  description: "Further ways to log in to workspaces, for workspace types that name it.",
  required: ["spec"],
  spec: {
    type: "object",
    description: "Whose tokens are taken.",
    required: ["jwt"],
    properties: {
      jwt: {
        type: "array",
        description: "The issuers of tokens.",
        items: {
          type: "object",
          description: "An issuer of tokens, and what its tokens say.",
          required: ["claimMappings", "issuer"],
          properties: {
            issuer: ISSUER,
            claimMappings: CLAIM_MAPPINGS,
            claimValidationRules: CLAIM_RULES,
            userValidationRules: {
              type: "array",
              description: "What must hold of the user that came of the token.",
              items: {
                type: "object",
                description: "Something that must hold.",
                required: ["expression", "message"],
                properties: {
                  expression: { type: "string", description: "CEL over user that must be true." },
                  message: { type: "string", description: "What is said when it is not." },
                },
              },
            },
          },
        },
      },
    },
  },
});

/** Further ways to log in to workspaces, as they are read. */
export type WorkspaceAuthenticationConfiguration = ObjectsOf<typeof WorkspaceAuthenticationConfiguration>;

/** Whose tokens are taken. */
export type WorkspaceAuthenticationConfigurationSpec = WorkspaceAuthenticationConfiguration["spec"];
