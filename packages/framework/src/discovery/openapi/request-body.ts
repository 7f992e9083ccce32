import type { OpenAPIV3 } from "openapi-types";
import type { ResourceDefinition, Verb } from "../../definition.ts";
import { patchTypes } from "../../serve/patching.ts";
import { kindName } from "./kind-schemas.ts";
import { metaName } from "./meta-object-schemas.ts";
import { contentOf } from "./operation.ts";
import { VERB_FORMS } from "./verb-forms.ts";

/** How objects travel. */
export const OBJECT_TYPES: readonly string[] = ["application/json", "application/yaml"];

/** What an operation takes that is about objects of a kind. */
export function requestBody(definition: ResourceDefinition, verb: Verb): OpenAPIV3.RequestBodyObject | undefined {
  switch (VERB_FORMS[verb].body) {
    case "object":
      return { content: contentOf(kindName(definition), OBJECT_TYPES), required: true };
    case "options":
      return { content: contentOf(metaName("DeleteOptions"), OBJECT_TYPES) };
    case "patch":
      return { content: contentOf(metaName("Patch"), patchTypes(definition).sort()), required: true };
    default:
      return undefined;
  }
}
