import type { JsonSchema, KubeObject } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { allColumns, type BuiltInKind, STANDARD_VERBS } from "./built-in-kind.ts";
import { itemsOf, specOf } from "./problems.ts";
import { customResourceDefinitionMessage } from "./protobuf-apiextensions.ts";
import { createdAt } from "./rbac-rules.ts";
import { conditions, flag, int32, int64, object, objects, text, textSet, texts } from "./descriptions.ts";
import { knownSchema } from "./schema-props.ts";

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
