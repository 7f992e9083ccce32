// Run by the threads of YamlReaders.
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { answerMessages } from "../../util/worker/worker-answer.ts";
import { YamlFault } from "./fault.ts";
import { parseYaml } from "./parse.ts";

export interface YamlTask {
  readonly text: string;
  readonly maxBytes: number;
}

/** As JSON: it is read faster than a tree is copied from one thread to the other. */
export type YamlReply =
  | { readonly json: string; readonly duplicates: readonly string[] }
  | { readonly fault: string; readonly tooLarge: boolean };

answerMessages(({ text, maxBytes }: YamlTask): YamlReply => {
  try {
    const { value, duplicates } = parseYaml(text, maxBytes);
    return { json: stringifyJson(value), duplicates };
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    return { fault: error.message, tooLarge: error.tooLarge };
  }
});
