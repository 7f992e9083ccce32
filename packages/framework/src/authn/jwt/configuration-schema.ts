import type { JsonSchema } from "@virtual-workspaces/apimachinery";

const TEXT: JsonSchema = { type: "string" };

function object(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties };
}

function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

const RULE = object({ claim: TEXT, requiredValue: TEXT, expression: TEXT, message: TEXT });
const PREFIXED = object({ claim: TEXT, prefix: TEXT, expression: TEXT });

/** The fields of Kubernetes' `AuthenticationConfiguration`, v1 and v1beta1 alike. What is required is said elsewhere. */
export const CONFIGURATION_SCHEMA: JsonSchema = object({
  jwt: list(
    object({
      issuer: object({
        url: TEXT,
        discoveryURL: TEXT,
        certificateAuthority: TEXT,
        audiences: list(TEXT),
        audienceMatchPolicy: TEXT,
        egressSelectorType: TEXT,
      }),
      claimValidationRules: list(RULE),
      claimMappings: object({
        username: PREFIXED,
        groups: PREFIXED,
        uid: object({ claim: TEXT, expression: TEXT }),
        extra: list(object({ key: TEXT, valueExpression: TEXT })),
      }),
      userValidationRules: list(object({ expression: TEXT, message: TEXT })),
    }),
  ),
  anonymous: object({ enabled: { type: "boolean" }, conditions: list(object({ path: TEXT })) }),
});
