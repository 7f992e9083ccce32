import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";

/** Parses a JSON object; `undefined` for any other text. */
export function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseOwnJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
