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
export const CLAIM_MAPPINGS = {
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
export const CLAIM_RULES = {
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
