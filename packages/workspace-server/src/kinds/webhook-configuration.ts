import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import type { LabelSelectorObject } from "@virtual-workspaces/apimachinery/selectors";
import { Resource } from "@virtual-workspaces/framework";
import { AGE, type BuiltInKind, type Columns, STANDARD_VERBS } from "./built-in-kind.ts";
import { int32, keyed, object, objects, text, textMap, texts } from "./descriptions.ts";
import { itemsOf } from "./problems.ts";
import { webhookProblems } from "./webhook-problems.ts";

/** API group of configurations of admission. */
export const ADMISSIONREGISTRATION_GROUP = "admissionregistration.k8s.io";

/** Address of a webhook: a URL or a service. */
export interface WebhookClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  /** PEM in base64. */
  caBundle?: string;
}

/** Requests that a webhook decides about. */
export interface WebhookRule {
  operations: string[];
  apiGroups: string[];
  apiVersions: string[];
  resources: string[];
  scope?: string;
}

/** Webhook of a configuration, with defaults. */
export interface WebhookContent {
  name: string;
  clientConfig: WebhookClientConfig;
  rules?: WebhookRule[];
  failurePolicy?: string;
  matchPolicy?: string;
  namespaceSelector?: LabelSelectorObject;
  objectSelector?: LabelSelectorObject;
  sideEffects?: string;
  timeoutSeconds?: number;
  admissionReviewVersions?: string[];
  matchConditions?: { name: string; expression: string }[];
  /** Only of mutating webhooks. */
  reinvocationPolicy?: string;
}

/** Fields of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration. */
export interface WebhookConfigurationContent {
  webhooks?: WebhookContent[];
}

/** Label selector. */
export const selectorOf = (description: string): JsonSchema => ({
  ...object(description, {
    matchLabels: textMap("Labels, all of which must match."),
    matchExpressions: objects("Requirements on labels, all of which must match.", {
      key: text("Key of the label."),
      operator: text("In, NotIn, Exists or DoesNotExist."),
      values: texts("Values for In and NotIn."),
    }),
  }),
  "x-kubernetes-map-type": "atomic",
});

/** Label selector that selects everything by default. */
export const selector = (description: string): JsonSchema => ({ ...selectorOf(description), default: {} });

/** Fields of a rule of a configuration. */
export const ruleFields: Readonly<Record<string, JsonSchema>> = {
  operations: texts("CREATE, UPDATE, DELETE, CONNECT, or * for all."),
  apiGroups: texts("API groups, or * for all."),
  apiVersions: texts("Versions, or * for all."),
  resources: texts("Resources: quotes, quotes/status, quotes/*, */scale, * without subresources, */* for all."),
  scope: { ...text("Cluster, Namespaced, or * for both."), default: "*" },
};

const webhooks = (description: string, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema =>
  keyed(
    "name",
    objects(description, {
      name: text("Name with a domain, such as quotes.example.dev."),
      clientConfig: object("Address of the webhook: exactly one of url and service.", {
        url: text("URL that begins with https, without user, query and fragment."),
        service: object("Service of the webhook: the host <name>.<namespace>.svc.", {
          namespace: text("Namespace of the service."),
          name: text("Name of the service."),
          path: text("Path of the URL."),
          port: { ...int32("Port of the service."), default: 443 },
        }),
        caBundle: {
          type: "string",
          format: "byte",
          description: "CA certificates of the webhook, PEM in base64. Defaults to those of the server.",
        },
      }),
      rules: objects("Requests that the webhook decides about: those that match one of the rules.", ruleFields),
      failurePolicy: { ...text("Fail or Ignore, when the webhook cannot be called."), default: "Fail" },
      matchPolicy: { ...text("Exact or Equivalent, for other versions of a resource."), default: "Equivalent" },
      namespaceSelector: selector("Labels of the object's namespace."),
      objectSelector: selector("Labels of the object, before or after the request."),
      sideEffects: text("None or NoneOnDryRun."),
      timeoutSeconds: { ...int32("Time limit of a call, from 1 to 30."), default: 10 },
      admissionReviewVersions: texts("Versions of AdmissionReview in order of preference: v1, v1beta1."),
      matchConditions: keyed(
        "name",
        objects("CEL expressions, all of which must be true; variables are object, oldObject and request.", {
          name: text("Name of the condition."),
          expression: text("Expression, such as object.spec.replicas > 3."),
        }),
      ),
      ...more,
    }),
  );

const columns: Columns = {
  Webhooks: {
    type: "integer",
    description: "Webhooks indicates the number of webhooks registered in this configuration",
    value: (configuration) => itemsOf(configuration["webhooks"]).length,
  },
  Age: AGE,
};

const common = {
  group: ADMISSIONREGISTRATION_GROUP,
  version: "v1",
  scope: "Cluster",
  categories: ["api-extensions"],
  subresources: { status: false },
  lazySchema: true,
  columns,
} as const;

/** `admissionregistration.k8s.io/v1` MutatingWebhookConfiguration. */
export const MutatingWebhookConfiguration: Resource<WebhookConfigurationContent> =
  new Resource<WebhookConfigurationContent>({
    ...common,
    kind: "MutatingWebhookConfiguration",
    description: "MutatingWebhookConfiguration describes webhooks that accept, reject and change objects.",
    schema: {
      type: "object",
      properties: {
        webhooks: webhooks("Webhooks, called one after the other.", {
          reinvocationPolicy: {
            ...text("Never or IfNeeded: whether to call again when later webhooks have changed the object."),
            default: "Never",
          },
        }),
      },
    },
    strategy: { problems: webhookProblems },
  });

/** `admissionregistration.k8s.io/v1` ValidatingWebhookConfiguration. */
export const ValidatingWebhookConfiguration: Resource<WebhookConfigurationContent> =
  new Resource<WebhookConfigurationContent>({
    ...common,
    kind: "ValidatingWebhookConfiguration",
    description: "ValidatingWebhookConfiguration describes webhooks that accept and reject objects.",
    schema: { type: "object", properties: { webhooks: webhooks("Webhooks, called at the same time.") } },
    strategy: { problems: webhookProblems },
  });

export const webhookConfigurations: readonly BuiltInKind[] = [
  { resource: MutatingWebhookConfiguration as unknown as Resource, verbs: STANDARD_VERBS },
  { resource: ValidatingWebhookConfiguration as unknown as Resource, verbs: STANDARD_VERBS },
];
