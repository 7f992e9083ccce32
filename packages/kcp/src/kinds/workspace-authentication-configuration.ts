import { kcpKind, type ObjectsOf } from "./kind.ts";

const CLAIM = { type: "string", minLength: 1, description: "The claim of the token that it is." } as const;
const EXPRESSION = { type: "string", minLength: 1, description: "CEL that makes it of the token's claims." } as const;

const EITHER = {
  rule: "has(self.claim) || has(self.expression)",
  message: "either claim or expression must be specified",
} as const;
const NOT_BOTH = {
  rule: "!(has(self.claim) && has(self.expression))",
  message: "claim and expression cannot both be specified",
} as const;

/** A claim with a prefix, or an expression. */
const PREFIXED = {
  type: "object",
  properties: {
    claim: CLAIM,
    prefix: {
      type: "string",
      description: "What is put before the claim, so that nobody takes a name that is another's.",
    },
    expression: EXPRESSION,
  },
  "x-kubernetes-validations": [
    EITHER,
    NOT_BOTH,
    { rule: "!(has(self.prefix)) || has(self.claim)", message: "prefix can only be specified when claim is specified" },
  ],
} as const;

/** What a user is, from the claims of a token (apiserver's ClaimMappings). */
const CLAIM_MAPPINGS = {
  type: "object",
  description: "What the user is, from the claims of the token.",
  properties: {
    username: { ...PREFIXED, description: "The user's name." },
    groups: { ...PREFIXED, description: "The groups that the user is in." },
    uid: {
      type: "object",
      description: "The user's uid.",
      properties: { claim: CLAIM, expression: EXPRESSION },
      "x-kubernetes-validations": [NOT_BOTH],
    },
    extra: {
      type: "array",
      description: "What else is known of the user.",
      items: {
        type: "object",
        description: "One thing that is known of the user.",
        required: ["key", "valueExpression"],
        properties: {
          key: { type: "string", description: "What it is." },
          valueExpression: {
            type: "string",
            description: "CEL that makes the value, or several, of the token's claims.",
          },
        },
      },
    },
  },
} as const;

/** What tokens must hold (apiserver's ClaimValidationRule). */
const CLAIM_RULES = {
  type: "array",
  description: "What must hold of the token's claims.",
  items: {
    type: "object",
    description: "Something that must hold.",
    properties: {
      claim: { ...CLAIM, description: "A claim that must be there." },
      requiredValue: { type: "string", minLength: 1, description: "What the claim must be." },
      expression: { ...EXPRESSION, description: "CEL over the token's claims that must be true." },
      message: { type: "string", minLength: 1, description: "What is said when the expression is not true." },
    },
    "x-kubernetes-validations": [
      EITHER,
      NOT_BOTH,
      {
        rule: "(has(self.expression) && !has(self.requiredValue)) || (has(self.claim) && has(self.requiredValue))",
        message: "requiredValue can only be specified when claim is specified",
      },
      {
        rule: "(has(self.expression) && has(self.message)) || (has(self.claim) && !has(self.message))",
        message: "message can only be specified when expression is specified",
      },
    ],
  },
} as const;

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
