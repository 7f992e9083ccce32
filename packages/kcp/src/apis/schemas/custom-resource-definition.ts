import type { JsonSchema, ObjectMeta } from "@virtual-workspaces/apimachinery";
import type { APIResourceSchema } from "../kinds/api-resource-schema.ts";
import type { ResourceNames } from "./names-problems.ts";

type Version = NonNullable<APIResourceSchema["spec"]>["versions"][number];

/** What APIResourceSchemas and CustomResourceDefinitions have in common with each other of the latter. */
export interface CustomResourceDefinitionLike {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly group: string;
    readonly names: ResourceNames;
    readonly scope: "Cluster" | "Namespaced";
    readonly versions: readonly CustomResourceVersion[];
    readonly conversion?: CustomResourceConversion | undefined;
  };
}

/** A version of a {@link CustomResourceDefinitionLike}: its schema is one level deeper than an APIResourceSchema's. */
export interface CustomResourceVersion extends Omit<Version, "schema"> {
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema | undefined } | undefined;
}

/** How objects become those of another version. */
export interface CustomResourceConversion {
  readonly strategy: "None" | "Webhook";
  readonly webhook?:
    | {
        readonly clientConfig?:
          | {
              readonly url?: string | undefined;
              readonly caBundle?: string | undefined;
              readonly service?: object | undefined;
            }
          | undefined;
        readonly conversionReviewVersions: readonly string[];
      }
    | undefined;
}
