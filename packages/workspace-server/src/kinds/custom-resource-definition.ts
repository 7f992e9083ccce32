import type { JsonSchema, KubeObject } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { allColumns, type BuiltInKind, STANDARD_VERBS } from "./built-in-kind.ts";
import { conditions, flag, int32, int64, object, objects, text, textSet, texts } from "./descriptions.ts";
import { itemsOf, membersOf, specOf } from "./problems.ts";
import { customResourceDefinitionMessage } from "./protobuf-apiextensions.ts";
import { createdAt } from "./rbac-rules.ts";

/** Takes out of the schemas of its versions what schemas do not have. */
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
    plural: text("The resource in URLs: quotes. The object's name is this, a point and the group."),
    singular: text("What kubectl takes for one; the kind in lower case if it is not said."),
    shortNames: texts("What kubectl takes for short."),
    kind: text("The kind: Quote."),
    listKind: text("The kind of lists; the kind and List if it is not said."),
    categories: texts("Groups of kinds that kubectl takes: all."),
  });

const scale = object("How the kind is scaled.", {
  specReplicasPath: text("Where the number wanted is: .spec.replicas."),
  statusReplicasPath: text("Where the number there is, is."),
  labelSelectorPath: text("Where the selector of what is counted is."),
});

const column = {
  name: text("Its title."),
  type: text("integer, number, string, boolean or date."),
  format: text("How it is shown: name of the first column."),
  description: text("What it shows."),
  priority: int32("0 is always shown, more with -o wide."),
  jsonPath: text("Where its value is: .spec.text."),
};

const version = objects("Its versions, of which one is kept.", {
  name: text("v1, v1beta1."),
  served: flag("Whether it is there for clients."),
  storage: flag("Whether objects are kept in it: exactly one is."),
  deprecated: flag("Whether clients are warned."),
  deprecationWarning: text("In what words."),
  schema: object("What its objects are.", {
    openAPIV3Schema: {
      type: "object",
      description: "A structural schema.",
      "x-kubernetes-preserve-unknown-fields": true,
    },
  }),
  subresources: object("What its objects have besides.", { status: object("/status", {}), scale }),
  additionalPrinterColumns: objects("What kubectl get shows.", column),
  selectableFields: objects("What field selectors may name.", { jsonPath: text("Where it is: .spec.color.") }),
});

const webhook = object("Who converts, with the strategy Webhook.", {
  clientConfig: object("Where it is.", {
    url: text("Its URL."),
    service: object("The service.", {
      namespace: text("Its namespace."),
      name: text("Its name."),
      path: text("The path there."),
      port: int32("The port. 443 if it is not said."),
    }),
    caBundle: { type: "string", format: "byte", description: "Whom its certificate must be from, PEM in base64." },
  }),
  conversionReviewVersions: texts("The versions of ConversionReview that it takes."),
});

const columns = allColumns({ "Created At": createdAt });

/**
 * `apiextensions.k8s.io/v1` CustomResourceDefinition, as an object. What its registry demands of it, and what it comes to,
 * is another matter.
 */
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
      spec: object("The kind.", {
        group: text("Its API group."),
        names: names("Its names."),
        scope: text("Cluster or Namespaced."),
        versions: version,
        conversion: object("How objects of one version become those of another.", {
          strategy: text("None or Webhook."),
          webhook,
        }),
        preserveUnknownFields: flag("No longer to be set."),
      }),
      status: object("How far it is served.", {
        conditions: conditions("Whether its names are its own, and whether it is served.", {
          observedGeneration: int64("The generation that was looked at."),
        }),
        acceptedNames: names("The names that it is served under."),
        storedVersions: textSet("Versions that objects may be kept in."),
        observedGeneration: int64("The generation that was looked at."),
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

// What a schema within a CustomResourceDefinition is made of (JSONSchemaProps). It holds itself, so that no structural schema
// can say it: fields that it does not know are taken out here.

const PLAIN: ReadonlySet<string> = new Set([
  ...["id", "$schema", "$ref", "description", "type", "format", "title", "default", "maximum", "exclusiveMaximum"],
  ...["minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems"],
  ...["multipleOf", "enum", "maxProperties", "minProperties", "required", "externalDocs", "example", "nullable"],
  ...["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"],
  ...["x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-validations"],
]);
/** A schema, or in place of one a flag. */
const SCHEMA: ReadonlySet<string> = new Set(["not", "additionalProperties", "additionalItems"]);
/** Schemas in a list; of `items`, a schema or a list of them. */
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "items"]);
const MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties", "definitions", "dependencies"]);

/** A schema without what schemas do not have, and without nulls, which are nothing in Kubernetes but for defaults. */
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

/** A value of `dependencies` may be a list of texts. */
const schemaOrTexts = (value: unknown): unknown =>
  Array.isArray(value) && value.every((one) => typeof one === "string") ? value : knownSchema(value);
