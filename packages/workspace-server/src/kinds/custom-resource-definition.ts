import type { JsonSchema, KubeObject } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { allColumns, type BuiltInKind, STANDARD_VERBS } from "./built-in-kind.ts";
import { conditions, flag, int32, int64, object, objects, text, textSet, texts } from "./descriptions.ts";
import { itemsOf, membersOf, specOf } from "./problems.ts";
import { customResourceDefinitionMessage } from "./protobuf-apiextensions.ts";
import { createdAt } from "./rbac-rules.ts";

/** Drops unknown fields from the schemas of the versions. */
function defaults(definition: KubeObject): void {
  const spec = specOf(definition);
  if (!Array.isArray(spec["versions"])) return;
  const versions = itemsOf(spec["versions"]).map((version) => {
    const { schema } = version;
    if (typeof schema !== "object" || schema === null) return version;
    return { ...version, schema: knownValidation(schema as Record<string, unknown>) };
  });
  definition["spec"] = { ...spec, versions };
}

function knownValidation({ openAPIV3Schema }: Readonly<Record<string, unknown>>): object {
  return openAPIV3Schema === undefined ? {} : { openAPIV3Schema: knownSchema(openAPIV3Schema) };
}

const names = (description: string): JsonSchema =>
  object(description, {
    plural: text("Resource in URLs, such as quotes. The object's name is <plural>.<group>."),
    singular: text("Singular name for kubectl. Defaults to the kind in lower case."),
    shortNames: texts("Short names for kubectl."),
    kind: text("Kind of the objects, such as Quote."),
    listKind: text("Kind of lists. Defaults to the kind with the suffix List."),
    categories: texts("Categories for kubectl, such as all."),
  });

const scale = object("Paths of the scale subresource.", {
  specReplicasPath: text("Path of the desired number of replicas, such as .spec.replicas."),
  statusReplicasPath: text("Path of the current number of replicas."),
  labelSelectorPath: text("Path of the label selector of the replicas."),
});

const column = {
  name: text("Title of the column."),
  type: text("integer, number, string, boolean or date."),
  format: text("Format of the value; name marks the first column."),
  description: text("Description of the column."),
  priority: int32("Priority; columns above 0 are only shown with -o wide."),
  jsonPath: text("Path of the value, such as .spec.text."),
};

const version = objects("Versions of the kind, one of which is the storage version.", {
  name: text("v1, v1beta1."),
  served: flag("Whether the API serves this version."),
  storage: flag("Whether objects are stored in this version; true for exactly one."),
  deprecated: flag("Whether clients of this version get a warning."),
  deprecationWarning: text("Text of the warning."),
  schema: object("Schema of the objects.", {
    openAPIV3Schema: {
      type: "object",
      description: "Structural schema.",
      "x-kubernetes-preserve-unknown-fields": true,
    },
  }),
  subresources: object("Subresources of the objects.", { status: object("/status", {}), scale }),
  additionalPrinterColumns: objects("Columns of kubectl get.", column),
  selectableFields: objects("Fields that field selectors may use.", {
    jsonPath: text("Path of the field, such as .spec.color."),
  }),
});

const webhook = object("Conversion webhook, for the strategy Webhook.", {
  clientConfig: object("Address of the webhook.", {
    url: text("URL of the webhook."),
    service: object("Service of the webhook.", {
      namespace: text("Namespace of the service."),
      name: text("Name of the service."),
      path: text("Path of the URL."),
      port: int32("Port of the service. Defaults to 443."),
    }),
    caBundle: { type: "string", format: "byte", description: "CA certificates of the webhook, PEM in base64." },
  }),
  conversionReviewVersions: texts("Supported versions of ConversionReview."),
});

const columns = allColumns({ "Created At": createdAt });

/** `apiextensions.k8s.io/v1` CustomResourceDefinition as an object, without the rules and the status of its registry. */
export const CustomResourceDefinition: Resource = new Resource({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  scope: "Cluster",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  description: "CustomResourceDefinition represents a resource that should be exposed on the API server.",
  lazySchema: true,
  schema: {
    type: "object",
    required: ["spec"],
    properties: {
      spec: object("Kind that the definition adds.", {
        group: text("API group of the kind."),
        names: names("Names of the kind."),
        scope: text("Cluster or Namespaced."),
        versions: version,
        conversion: object("Conversion between versions.", {
          strategy: text("None or Webhook."),
          webhook,
        }),
        preserveUnknownFields: flag("Deprecated; must be false."),
      }),
      status: object("State of the definition.", {
        conditions: conditions("Conditions, such as NamesAccepted and Established.", {
          observedGeneration: int64("Generation that the controller observed."),
        }),
        acceptedNames: names("Names under which the kind is served."),
        storedVersions: textSet("Versions in which objects may be stored."),
        observedGeneration: int64("Generation that the controller observed."),
      }),
    },
  },
  columns,
  protobuf: customResourceDefinitionMessage,
  strategy: { defaults },
});

export const customResourceDefinitions: BuiltInKind = {
  resource: CustomResourceDefinition,
  verbs: STANDARD_VERBS,
};

// Fields of a schema within a CustomResourceDefinition (JSONSchemaProps). It is recursive, which a structural schema
// cannot express, so unknown fields are dropped here.

const PLAIN: ReadonlySet<string> = new Set([
  ...["id", "$schema", "$ref", "description", "type", "format", "title", "default", "maximum", "exclusiveMaximum"],
  ...["minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems"],
  ...["multipleOf", "enum", "maxProperties", "minProperties", "required", "externalDocs", "example", "nullable"],
  ...["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"],
  ...["x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-validations"],
]);
/** Fields with a schema or a boolean. */
const SCHEMA: ReadonlySet<string> = new Set(["not", "additionalProperties", "additionalItems"]);
/** Fields with a list of schemas; `items` may also be one schema. */
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "items"]);
const MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties", "definitions", "dependencies"]);

/** Returns a schema without unknown fields and nulls; as in Kubernetes, only defaults and examples may be null. */
function knownSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(knownSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (value === null && name !== "default" && name !== "example") continue;
    if (PLAIN.has(name)) known[name] = value;
    else if (SCHEMA.has(name) || LISTS.has(name)) known[name] = knownSchema(value);
    else if (MAPS.has(name))
      known[name] = Object.fromEntries(Object.entries(membersOf(value)).map(([key, one]) => [key, schemaOrTexts(one)]));
  }
  return known;
}

/** A value of `dependencies` may also be a list of strings. */
const schemaOrTexts = (value: unknown): unknown =>
  Array.isArray(value) && value.every((one) => typeof one === "string") ? value : knownSchema(value);
