import { fieldForbidden, fieldInvalid, formatCauses, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { listOf, objectOf, readConfiguration, TEXT } from "../../body/yaml/configuration.ts";
import { anonymous as anonymousCallers } from "../anonymous.ts";
import type { Authenticator } from "../authenticator.ts";
import { jwt } from "./jwt.ts";
import type { ClaimMappings, JwtAuthenticator, JwtIssuer, JwtSettings } from "./jwt-options.ts";

/** Parsed file of Kubernetes' `--authentication-config`. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtAuthenticator[];
  /** Whether callers without credentials are authenticated as `system:anonymous`; `undefined`: the file does not set it. */
  readonly anonymous: AnonymousConfiguration | undefined;
  /**
   * Authenticators for `authentication` of a server: one for `jwt` if it has entries, one for `anonymous` if it is enabled.
   */
  readonly authenticators: readonly Authenticator[];
}

/** Kubernetes' `AnonymousAuthConfig`. */
export interface AnonymousConfiguration {
  readonly enabled: boolean;
  /** Paths on which anonymous requests are accepted. @default all */
  readonly conditions?: readonly { readonly path: string }[];
}

const KIND = "AuthenticationConfiguration";
const VERSIONS: readonly string[] = ["v1beta1", "v1"];

/**
 * Parses Kubernetes' structured authentication configuration (`AuthenticationConfiguration` of `apiserver.config.k8s.io`, v1
 * or v1beta1; YAML or JSON). It is as strict as Kubernetes: unknown and duplicate fields are errors.
 *
 * @param text content of the file
 * @throws Error that names each invalid field: `authentication configuration: jwt[0].issuer.url: Required value`
 */
export function authenticationConfiguration(text: string, settings: JwtSettings = {}): AuthenticationConfiguration {
  try {
    const { jwt: issuers, anonymous } = read(text);
    const tokens = issuers.length === 0 ? [] : [jwt(issuers, settings)];
    return { jwt: issuers, anonymous, authenticators: [...tokens, ...withoutCredentials(anonymous)] };
  } catch (error) {
    throw new Error(`authentication configuration: ${(error as Error).message}`);
  }
}

function withoutCredentials(anonymous: AnonymousConfiguration | undefined): Authenticator[] {
  if (anonymous?.enabled !== true) return [];
  const { conditions = [] } = anonymous;
  return [anonymousCallers(conditions.length === 0 ? {} : { paths: conditions.map(({ path }) => path) })];
}

function read(text: string): Omit<AuthenticationConfiguration, "authenticators"> {
  const document = readConfiguration(text, { kind: KIND, versions: VERSIONS, schema: CONFIGURATION_SCHEMA });
  const { jwt: authenticators = [], anonymous } = document as unknown as Written;
  refuseEgress(authenticators);
  checkAnonymous(anonymous);
  return { jwt: authenticators.map(completed), anonymous };
}

/** Content that passed the schema: the types are right, but any field may be missing. */
interface Written {
  readonly jwt?: readonly WrittenAuthenticator[];
  readonly anonymous?: AnonymousConfiguration;
}

type WrittenAuthenticator = Partial<Omit<JwtAuthenticator, "issuer" | "claimMappings">> & {
  readonly issuer?: Partial<JwtIssuer> & { readonly egressSelectorType?: string };
  readonly claimMappings?: Partial<ClaimMappings>;
};

/** Sets missing fields to Go's zero values, so that validation reports them as required with Kubernetes' text. */
function completed({ issuer, claimMappings, ...rules }: WrittenAuthenticator): JwtAuthenticator {
  const { extra = [] } = claimMappings ?? {};
  return {
    issuer: { url: "", audiences: [], ...issuer },
    claimMappings: {
      username: {},
      ...claimMappings,
      extra: extra.map((mapping) => ({ ...{ key: "", valueExpression: "" }, ...mapping })),
    },
    claimValidationRules: rules.claimValidationRules ?? [],
    userValidationRules: (rules.userValidationRules ?? []).map((rule) => ({ ...{ expression: "" }, ...rule })),
  };
}

function refuseEgress(authenticators: readonly WrittenAuthenticator[]): void {
  const causes = authenticators.flatMap(({ issuer }, at) =>
    (issuer?.egressSelectorType ?? "") === ""
      ? []
      : [fieldForbidden(`jwt[${at}].issuer.egressSelectorType`, "egress selectors are not supported: leave it out")],
  );
  if (causes.length > 0) throw new Error(formatCauses(causes));
}

function checkAnonymous(anonymous: AnonymousConfiguration | undefined): void {
  const { enabled = false, conditions = [] } = anonymous ?? {};
  if (enabled || conditions.length === 0) return;
  const detail = "enabled should be set to true when conditions are defined";
  const printed = conditions.map(({ path }) => ({ Path: path })); // the format that Go prints
  throw new Error(formatCauses([fieldInvalid("anonymous.conditions", printed, detail)]));
}

const RULE = objectOf({ claim: TEXT, requiredValue: TEXT, expression: TEXT, message: TEXT });
const PREFIXED = objectOf({ claim: TEXT, prefix: TEXT, expression: TEXT });

/** Schema of Kubernetes' `AuthenticationConfiguration`, v1 and v1beta1 alike. Required fields are checked elsewhere. */
const CONFIGURATION_SCHEMA: JsonSchema = objectOf({
  jwt: listOf(
    objectOf({
      issuer: objectOf({
        url: TEXT,
        discoveryURL: TEXT,
        certificateAuthority: TEXT,
        audiences: listOf(TEXT),
        audienceMatchPolicy: TEXT,
        egressSelectorType: TEXT,
      }),
      claimValidationRules: listOf(RULE),
      claimMappings: objectOf({
        username: PREFIXED,
        groups: PREFIXED,
        uid: objectOf({ claim: TEXT, expression: TEXT }),
        extra: listOf(objectOf({ key: TEXT, valueExpression: TEXT })),
      }),
      userValidationRules: listOf(objectOf({ expression: TEXT, message: TEXT })),
    }),
  ),
  anonymous: objectOf({ enabled: { type: "boolean" }, conditions: listOf(objectOf({ path: TEXT })) }),
});
