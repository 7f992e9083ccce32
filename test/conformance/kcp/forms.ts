// Puts answers into one form: without what no two servers have in common, and without orders that mean nothing.
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { setMember } from "@virtual-workspaces/apimachinery/json";

/** Who owns which fields is compared by the differential suite; the hash is one of how storage is laid out. */
const LEFT_OUT = new Set(["managedFields", "storageVersionHash", "uid"]);

/**
 * A copy of a JSON value: members in one order, since symbols are numbered as they come, no uids, and lists of what is
 * served by name, so that what is missing in one does not shift the rest. The order of
 * groups is told beside them, but for those of CustomResourceDefinitions, which kcp has in another order each time.
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

/** However old, and whatever the type of the column says. */
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
