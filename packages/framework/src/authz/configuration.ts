import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
  formatCauses,
  type JsonSchema,
  nameProblems,
  parseDuration,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { listOf, objectOf, readConfiguration, TEXT } from "../body/yaml/configuration.ts";
import { LazyExpressions } from "../cel/lazy-expressions.ts";
import { MatchConditions } from "../cel/match-conditions.ts";

/** Parsed file of Kubernetes' `--authorization-config`. */
export interface AuthorizationConfiguration {
  /** Authorizers in their order; at least one. */
  readonly authorizers: readonly ConfiguredAuthorizer[];
}

/** Entry of an {@link AuthorizationConfiguration}. Names are unique. */
export type ConfiguredAuthorizer =
  | { readonly type: "RBAC"; readonly name: string }
  | { readonly type: "Webhook"; readonly name: string; readonly webhook: ConfiguredWebhook };

/** Kubernetes' `WebhookConfiguration` of an authorizer. */
export interface ConfiguredWebhook {
  /** Time to cache an allowed request, in ms; 0 if `cacheAuthorizedRequests` is false. @default 5 minutes */
  readonly authorizedTTL: number;
  /** Time to cache any other decision, in ms; 0 if `cacheUnauthorizedRequests` is false. @default 30 seconds */
  readonly unauthorizedTTL: number;
  /** Time limit of a request with its retries, in ms. */
  readonly timeout: number;
  readonly subjectAccessReviewVersion: "v1" | "v1beta1";
  readonly failurePolicy: "NoOpinion" | "Deny";
  readonly connectionInfo: { readonly kubeConfigFile: string };
  /** Conditions for the variable `request`, the `spec` of a SubjectAccessReview v1. */
  readonly matchConditions: MatchConditions;
}

/**
 * Parses Kubernetes' structured authorization configuration (`AuthorizationConfiguration` of `apiserver.config.k8s.io`, v1,
 * v1beta1 or v1alpha1; YAML or JSON). It is as strict as Kubernetes: unknown and duplicate fields are errors. The types are
 * `RBAC`, at most once, and `Webhook`, with `connectionInfo.type` `KubeConfigFile`. The kubeconfigs are not read.
 *
 * @param text content of the file
 * @throws Error that names each invalid field: `authorization configuration: authorizers[0].name: Required value`
 */
export function authorizationConfiguration(text: string): AuthorizationConfiguration {
  try {
    const { authorizers = [] } = readConfiguration(text, FILE) as { readonly authorizers?: readonly Written[] };
    const causes: StatusCause[] = [];
    if (authorizers.length === 0)
      causes.push(fieldRequired("authorizers", "at least one authorization mode must be defined"));
    const seen: Seen = { types: new Set(), names: new Set() };
    const read = authorizers.flatMap((one, at) => readAuthorizer(one, seen, new Field(`authorizers[${at}]`, causes)));
    if (causes.length > 0) throw new Error(formatCauses(causes));
    return { authorizers: read };
  } catch (error) {
    throw new Error(`authorization configuration: ${(error as Error).message}`);
  }
}

/** Content that passed the schema: the types are right, but any field may be missing. */
interface Written {
  readonly type?: string;
  readonly name?: string;
  readonly webhook?: WrittenWebhook;
}

interface WrittenWebhook {
  readonly authorizedTTL?: string;
  readonly cacheAuthorizedRequests?: boolean;
  readonly unauthorizedTTL?: string;
  readonly cacheUnauthorizedRequests?: boolean;
  readonly timeout?: string;
  readonly subjectAccessReviewVersion?: string;
  readonly matchConditionSubjectAccessReviewVersion?: string;
  readonly failurePolicy?: string;
  readonly connectionInfo?: { readonly type?: string; readonly kubeConfigFile?: string };
  readonly matchConditions?: readonly { readonly expression?: string }[];
}

interface Seen {
  readonly types: Set<string>;
  readonly names: Set<string>;
}

const TYPES = ["RBAC", "Webhook"] as const;
const MOST_CONDITIONS = 64;
/** Limits of durations in ms, with their errors: Kubernetes' of a timeout, and that of the caches here. */
const MOST_TIMEOUT = [30_000, "must be > 0s and <= 30s"] as const;
const MOST_TTL = [86_400_000, "must be > 0s and <= 24h"] as const;

/** Path of a field, and the errors found below it. */
class Field {
  readonly path: string;
  readonly causes: StatusCause[];

  constructor(path: string, causes: StatusCause[]) {
    this.path = path;
    this.causes = causes;
  }

  at(name: string): Field {
    return new Field(`${this.path}.${name}`, this.causes);
  }

  required(detail = ""): void {
    this.causes.push(fieldRequired(this.path, detail));
  }

  invalid(value: unknown, detail: string): void {
    this.causes.push(fieldInvalid(this.path, value, detail));
  }

  /** Returns the value if it is one of those. */
  oneOf<T extends string>(value: string | undefined, values: readonly T[]): T | undefined {
    const known = values.find((one) => one === value);
    if (value === undefined || value === "") this.required();
    else if (known === undefined) this.causes.push(fieldNotSupported(this.path, value, values));
    return known;
  }

  /** Returns a duration in ms. */
  duration(text: string | undefined, [most, detail]: readonly [number, string]): number {
    if (text === undefined) {
      this.required();
      return 0;
    }
    const duration = parseDuration(text);
    if (duration === 0) this.required();
    else if (duration === undefined) this.invalid(text, "must be a duration such as 30s or 5m");
    else if (duration < 0 || duration > most) this.invalid(text, detail);
    return Math.max(1, Math.round(duration ?? 0));
  }
}

function readAuthorizer({ name = "", webhook, ...written }: Written, seen: Seen, field: Field): ConfiguredAuthorizer[] {
  const { causes } = field;
  const type = field.at("type").oneOf(written.type, TYPES);
  if (type === undefined) return [];
  if (type !== "Webhook" && seen.types.has(type)) {
    causes.push(fieldDuplicate(field.at("type").path, type));
    return [];
  }
  seen.types.add(type);
  const problems = nameProblems(name);
  if (name === "") field.at("name").required();
  else if (seen.names.has(name)) causes.push(fieldDuplicate(field.at("name").path, name));
  else if (problems.length > 0) field.at("name").invalid(name, `authorizer name is invalid: ${problems.join(", ")}`);
  seen.names.add(name);
  if (type === "RBAC") {
    if (webhook !== undefined) field.at("webhook").invalid("non-null", "may only be specified when type=Webhook");
    return [{ type, name }];
  }
  if (webhook !== undefined) return [{ type: "Webhook", name, webhook: readWebhook(webhook, field.at("webhook")) }];
  field.at("webhook").required("required when type=Webhook");
  return [];
}

/** Kubernetes' paths in these errors lack `webhook`. */
function readWebhook(written: WrittenWebhook, field: Field): ConfiguredWebhook {
  const { authorizedTTL = "5m", unauthorizedTTL = "30s", matchConditions = [], connectionInfo = {} } = written;
  const timeout = field.at("timeout").duration(written.timeout, MOST_TIMEOUT);
  const authorized = field.at("authorizedTTL").duration(authorizedTTL, MOST_TTL);
  const unauthorized = field.at("unauthorizedTTL").duration(unauthorizedTTL, MOST_TTL);
  const version = field.at("subjectAccessReviewVersion").oneOf(written.subjectAccessReviewVersion, VERSIONS);
  const { matchConditionSubjectAccessReviewVersion: conditionVersion = "" } = written;
  const conditioned = field.at("matchConditionSubjectAccessReviewVersion");
  if (conditionVersion !== "") conditioned.oneOf(conditionVersion, ["v1"]);
  else if (matchConditions.length > 0) conditioned.required("required if match conditions are specified");
  const failurePolicy = field.at("failurePolicy").oneOf(written.failurePolicy, POLICIES);
  const kubeConfigFile = readConnection(connectionInfo, field.at("connectionInfo"));
  return {
    authorizedTTL: written.cacheAuthorizedRequests === false ? 0 : authorized,
    unauthorizedTTL: written.cacheUnauthorizedRequests === false ? 0 : unauthorized,
    timeout,
    subjectAccessReviewVersion: version ?? "v1",
    failurePolicy: failurePolicy ?? "Deny",
    connectionInfo: { kubeConfigFile },
    matchConditions: readConditions(
      matchConditions.map(({ expression = "" }) => expression),
      field.at("matchConditions"),
    ),
  };
}

const VERSIONS = ["v1", "v1beta1"] as const;
const POLICIES = ["NoOpinion", "Deny"] as const;

function readConnection({ type, kubeConfigFile = "" }: NonNullable<WrittenWebhook["connectionInfo"]>, field: Field) {
  field.at("type").oneOf(type, ["KubeConfigFile"]);
  if (type !== "KubeConfigFile") return kubeConfigFile;
  const file = field.at("kubeConfigFile");
  if (kubeConfigFile === "") file.required();
  else if (!kubeConfigFile.startsWith("/")) file.invalid(kubeConfigFile, "must be an absolute path");
  return kubeConfigFile;
}

function readConditions(sources: readonly string[], field: Field): MatchConditions {
  if (sources.length > MOST_CONDITIONS) field.causes.push(fieldTooMany(field.path, sources.length, MOST_CONDITIONS));
  for (const [at, source] of sources.slice(0, MOST_CONDITIONS).entries()) {
    const one = new Field(`${field.path}[${at}].expression`, field.causes);
    if (source.trim() === "") one.required();
    else if (sources.indexOf(source) < at) one.causes.push(fieldDuplicate(one.path, source));
    else {
      const result = reviews.compile(source.trim(), "bool");
      if ("problem" in result) one.invalid(source, result.problem);
    }
  }
  return new MatchConditions(reviews, sources);
}

const BOOLEAN: JsonSchema = { type: "boolean" };

const SELECTOR = objectOf({
  rawSelector: TEXT,
  requirements: listOf(objectOf({ key: TEXT, operator: TEXT, values: listOf(TEXT) })),
});

/** Compiler over `spec` of a SubjectAccessReview v1. */
const reviews = new LazyExpressions(
  {
    request: {
      resourceAttributes: objectOf({
        namespace: TEXT,
        verb: TEXT,
        group: TEXT,
        version: TEXT,
        resource: TEXT,
        subresource: TEXT,
        name: TEXT,
        fieldSelector: SELECTOR,
        labelSelector: SELECTOR,
      }),
      nonResourceAttributes: objectOf({ path: TEXT, verb: TEXT }),
      user: TEXT,
      groups: listOf(TEXT),
      extra: { type: "object", additionalProperties: listOf(TEXT) },
      uid: TEXT,
    },
  },
  { wholeNumbers: "int" },
);

const FILE = {
  kind: "AuthorizationConfiguration",
  versions: ["v1alpha1", "v1beta1", "v1"],
  schema: objectOf({
    authorizers: listOf(
      objectOf({
        type: TEXT,
        name: TEXT,
        webhook: objectOf({
          authorizedTTL: TEXT,
          cacheAuthorizedRequests: BOOLEAN,
          unauthorizedTTL: TEXT,
          cacheUnauthorizedRequests: BOOLEAN,
          timeout: TEXT,
          subjectAccessReviewVersion: TEXT,
          matchConditionSubjectAccessReviewVersion: TEXT,
          failurePolicy: TEXT,
          connectionInfo: objectOf({ type: TEXT, kubeConfigFile: TEXT }),
          matchConditions: listOf(objectOf({ expression: TEXT })),
        }),
      }),
    ),
  }),
};
