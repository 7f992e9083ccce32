import { createHash } from "node:crypto";
import { apiVersionOf, FieldManager, type KubeObject, type StatusCause } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import type { Awaitable } from "../storage.ts";
import { scaleFields, scaleProblems } from "../subresource/scale-fields.ts";
import type { KindRules } from "./rules.ts";
import { SchemaRules } from "./schema-rules.ts";
import type { Part } from "./update.ts";
import { WeakIntern } from "./weak-intern.ts";

/** Compiled schemas by content: a thousand kinds with one schema have one. Holds nothing that nobody uses. */
const schemas = new WeakIntern<SchemaRules>();

type Problems = Awaitable<readonly StatusCause[]>;

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
  const scaled = subresources.scale === undefined ? undefined : scaleFields(subresources.scale);
  const withScale = (object: KubeObject, part: Part, found: Problems): Problems => {
    if (scaled === undefined) return found;
    const problems = scaleProblems(object, scaled, part);
    return found instanceof Promise ? found.then((all) => [...all, ...problems]) : [...found, ...problems];
  };
  return {
    prune: (object) => compiled.prune(object),
    fillDefaults: (object) => compiled.fillDefaults(object),
    problems: (object, options) => withScale(object, options.part, compiled.problems(object, options)),
    fields,
  };
}
