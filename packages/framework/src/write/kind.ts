import { createHash } from "node:crypto";
import { apiVersionOf, FieldManager } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import type { KindRules } from "./rules.ts";
import { SchemaRules } from "./schema-rules.ts";
import { WeakIntern } from "./weak-intern.ts";

/** Compiled schemas by content: a thousand kinds with one schema have one. Holds nothing that nobody uses. */
const schemas = new WeakIntern<SchemaRules>();

/** The rules of a kind. @throws Error on a schema that Kubernetes would not take */
export function kindRules(definition: ResourceDefinition): KindRules {
  const { schema, kind, subresources } = definition;
  const text = JSON.stringify(schema);
  const compiled = schemas.get(createHash("sha256").update(text).digest("base64"), () => new SchemaRules(schema));
  const fields = new FieldManager({
    apiVersion: apiVersionOf(definition),
    kind,
    schema,
    ignored: {
      ...(subresources.status ? { "": [["status"]] } : {}),
      status: [["metadata"], ["spec"]],
    },
  });
  return {
    prune: (object) => compiled.prune(object),
    fillDefaults: (object) => compiled.fillDefaults(object),
    problems: (object, options) => compiled.problems(object, options),
    fields,
  };
}
