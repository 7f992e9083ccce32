// Normalizes answers: removes values that always differ between servers, and orders without meaning.
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { setMember } from "@virtual-workspaces/apimachinery/json";

/** The differential suite compares field ownership; the hash describes the layout of the storage. */
const LEFT_OUT = new Set(["managedFields", "storageVersionHash", "uid"]);

/**
 * Returns a normalized copy of a JSON value. Members are sorted, since symbols are numbered in order of appearance, and uids
 * are removed. Lists of served resources are keyed by name, so that a missing entry does not shift the others. The order of
 * groups is recorded beside them, except for those of CustomResourceDefinitions, whose order changes in kcp.
 */
export function formed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formed);
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const name of Object.keys(value).sort()) {
    if (LEFT_OUT.has(name)) continue;
    const isVersion = name === "resourceVersion" && value[name] !== "";
    setMember(copy, name, isVersion ? "<version>" : formed(value[name]));
  }
  if (value["kind"] === "Table")
    return { ...copy, columnDefinitions: withoutWords(copy["columnDefinitions"]), rows: ageless(copy["rows"]) };
  if (value["kind"] === "APIResourceList") return { ...copy, resources: byName(value["resources"]) };
  if (value["kind"] === "APIGroupList")
    return { ...copy, groups: byName(value["groups"]), order: namesOf(value["groups"]) };
  return copy;
}

function withoutWords(columns: unknown): unknown {
  if (!Array.isArray(columns)) return columns;
  return columns.map(({ description: _description, ...column }: JsonObject) => column);
}

/** Removes ages, whatever the type of the column is. */
function ageless(rows: unknown): unknown {
  if (!Array.isArray(rows)) return rows;
  return rows.map((row: JsonObject) => {
    const cells = Array.isArray(row["cells"]) ? row["cells"] : [];
    return { ...row, cells: cells.map((cell) => (/^(?:\d+[smhdy])+$/.test(String(cell)) ? "<age>" : cell)) };
  });
}

function byName(list: unknown): JsonObject {
  const named: JsonObject = {};
  if (!Array.isArray(list)) return named;
  for (const item of list) {
    if (!isJsonObject(item)) continue;
    const { name, verbs, ...rest } = formed(item) as JsonObject;
    setMember(named, String(name), { ...rest, ...(Array.isArray(verbs) && { verbs: [...verbs].sort() }) });
  }
  return named;
}

function namesOf(list: unknown): unknown[] {
  const names = Array.isArray(list) ? list.map((item) => (isJsonObject(item) ? String(item["name"]) : "")) : [];
  return names.filter((name) => name.endsWith(".k8s.io"));
}
