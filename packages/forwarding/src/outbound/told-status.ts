import { isJsonObject, parseOwnJson, type Status, statusFrom } from "@virtual-workspaces/apimachinery";

/** The Status that another server answered; `undefined` when the body is none. */
export function toldStatus(body: Buffer): Status | undefined {
  try {
    const parsed = parseOwnJson(body.toString("utf8"));
    return isJsonObject(parsed) && parsed["kind"] === "Status" ? statusFrom(parsed) : undefined;
  } catch {
    return undefined;
  }
}
