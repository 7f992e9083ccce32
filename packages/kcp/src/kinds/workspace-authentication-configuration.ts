import { kcpKind, type ObjectsOf } from "./kind.ts";

const CLAIM = { type: "string", minLength: 1, description: "Claim of the token with the value." } as const;
const EXPRESSION = {
  type: "string",
  minLength: 1,
  description: "CEL over the token's claims with the value.",
} as const;

const EITHER = {
  rule: "has(self.claim) || has(self.expression)",
  message: "either claim or expression must be specified",
} as const;
const NOT_BOTH = {
  rule: "!(has(self.claim) && has(self.expression))",
  message: "claim and expression cannot both be specified",
} as const;

/** Schema of a claim with a prefix, or an expression. */
const PREFIXED = {
  type: "object",
  properties: {
    claim: CLAIM,
    prefix: {
      type: "string",
      description: "Prefix for the value of the claim, which prevents clashes with other users.",
    },
    expression: EXPRESSION,
  },
  "x-kubernetes-validations": [
    EITHER,
    NOT_BOTH,
    { rule: "!(has(self.prefix)) || has(self.claim)", message: "prefix can only be specified when claim is specified" },
  ],
} as const;

/** Schema of the mapping from claims to a user (apiserver's ClaimMappings). */
const CLAIM_MAPPINGS = {
  type: "object",
  description: "Mapping from the token's claims to the user.",
  properties: {
    username: { ...PREFIXED, description: "Name of the user." },
    groups: { ...PREFIXED, description: "Groups of the user." },
    uid: {
      type: "object",
      description: "UID of the user.",
      properties: { claim: CLAIM, expression: EXPRESSION },
      "x-kubernetes-validations": [NOT_BOTH],
    },
    extra: {
      type: "array",
      description: "Additional attributes of the user.",
      items: {
        type: "object",
        description: "Additional attribute of the user.",
        required: ["key", "valueExpression"],
        properties: {
          key: { type: "string", description: "Key of the attribute." },
          valueExpression: {
            type: "string",
            description: "CEL expression over the token's claims that returns one or several values.",
          },
        },
      },
    },
  },
} as const;

/** Schema of the rules for tokens (apiserver's ClaimValidationRule). */
const CLAIM_RULES = {
  type: "array",
  description: "Rules for the token's claims.",
  items: {
    type: "object",
    description: "Rule for the token's claims.",
    properties: {
      claim: { ...CLAIM, description: "Required claim." },
      requiredValue: { type: "string", minLength: 1, description: "Required value of the claim." },
      expression: { ...EXPRESSION, description: "CEL expression over the token's claims that must be true." },
      message: { type: "string", minLength: 1, description: "Error message when the expression is not true." },
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
  description: "Issuer of the tokens.",
  required: ["url"],
  properties: {
    url: { type: "string", description: "Issuer as in its tokens: https://…" },
    discoveryURL: {
      type: "string",
      description:
        "URL of the issuer's discovery document. Default: the issuer's URL with /.well-known/openid-configuration.",
    },
    certificateAuthority: { type: "string", description: "CA certificates of the issuer's server, PEM." },
    audiences: { type: "array", items: { type: "string" }, description: "Audiences that tokens must have." },
    audienceMatchPolicy: { type: "string", description: "MatchAny: one of the audiences is enough." },
  },
} as const;

/**
 * kcp's WorkspaceAuthenticationConfiguration (`tenancy.kcp.io/v1alpha1`): additional token issuers for the workspaces of types that
 * name it. It has no status.
 */
export const WorkspaceAuthenticationConfiguration = kcpKind({
  group: "tenancy.kcp.io",
  kind: "WorkspaceAuthenticationConfiguration",
  description: "Additional token issuers, for workspace types that name it.",
  required: ["spec"],
  spec: {
    type: "object",
    description: "Accepted tokens.",
    required: ["jwt"],
    properties: {
      jwt: {
        type: "array",
        description: "Issuers of tokens.",
        items: {
          type: "object",
          description: "Issuer of tokens, and the mapping of its claims.",
          required: ["claimMappings", "issuer"],
          properties: {
            issuer: ISSUER,
            claimMappings: CLAIM_MAPPINGS,
            claimValidationRules: CLAIM_RULES,
            userValidationRules: {
              type: "array",
              description: "Rules for the user that the token gives.",
              items: {
                type: "object",
                description: "Rule for the user.",
                required: ["expression", "message"],
                properties: {
                  expression: { type: "string", description: "CEL expression over user that must be true." },
                  message: { type: "string", description: "Error message when the expression is not true." },
                },
              },
            },
          },
        },
      },
    },
  },
});

/** WorkspaceAuthenticationConfiguration as clients read it. */
export type WorkspaceAuthenticationConfiguration = ObjectsOf<typeof WorkspaceAuthenticationConfiguration>;

/** Accepted tokens. */
export type WorkspaceAuthenticationConfigurationSpec = WorkspaceAuthenticationConfiguration["spec"];
