import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import type { JsonObject } from "@virtual-workspaces/apimachinery";
import type { KubeconfigContent } from "@virtual-workspaces/client";
import { readIfThere } from "../../files.ts";
import { Failure } from "../../usage.ts";
import { KubeconfigFile, type ListName } from "./file.ts";
import { writeChanged } from "./write.ts";

/** An entry of a kubeconfig, and where it is written. */
export interface Entry {
  readonly value: JsonObject;
  readonly file: KubeconfigFile;
}

/** Fields that are paths, which begin in the folder of their file. */
const PATHS: readonly string[] = ["certificate-authority"];

/** The kubeconfigs that kubectl would read, to be changed: of several the first that has an entry counts. */
export class Kubeconfig {
  readonly #files: readonly KubeconfigFile[];
  /** The one that is used, as the command line has it, or the files. */
  readonly context: string;

  private constructor(files: readonly KubeconfigFile[], context: string | undefined) {
    this.#files = files;
    this.context = context ?? files.map(({ content }) => content["current-context"]).find(isName) ?? "";
  }

  /**
   * @param file this one and no other; default: those of `KUBECONFIG`, else `~/.kube/config`
   * @throws Failure on one that cannot be read
   */
  static read(file: string | undefined, context: string | undefined): Kubeconfig {
    const listed = (process.env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
    const usual = [join(process.env["HOME"] ?? homedir(), ".kube", "config")];
    const paths = file !== undefined ? [file] : listed.length > 0 ? [...new Set(listed)] : usual;
    if (file !== undefined && !existsSync(file)) throw new Failure(`${file} cannot be read: there is no such file`);
    return new Kubeconfig(paths.flatMap(fileAt), context);
  }

  get contents(): readonly KubeconfigContent[] {
    return this.#files.map(({ path, content }) => ({ file: path, content }));
  }

  find(list: ListName, name: string): Entry | undefined {
    for (const file of this.#files) {
      const value = file.entry(list, name);
      if (value !== undefined) return { value, file };
    }
    return undefined;
  }

  /** Writes an entry where one of that name is, else into the file that it comes from. */
  set(list: ListName, name: string, { value, file }: Entry): void {
    const into = this.find(list, name)?.file ?? file;
    into.setEntry(list, name, into === file ? value : elsewhere(value, file));
  }

  /** Which context is used from now on: the first file's word counts. */
  use(name: string): void {
    const [first] = this.#files;
    if (first !== undefined) first.currentContext = name;
  }

  /** @throws Failure */
  save(): Promise<void> {
    return writeChanged(this.#files);
  }
}

function fileAt(path: string): KubeconfigFile[] {
  try {
    const text = readIfThere(path);
    return text === undefined ? [] : [new KubeconfigFile(path, text)];
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** A value for another file: its relative paths would begin elsewhere. */
function elsewhere(value: JsonObject, { path }: KubeconfigFile): JsonObject {
  const moved = PATHS.flatMap((name) => {
    const given = value[name];
    return isName(given) && !isAbsolute(given) ? [[name, join(dirname(path), given)]] : [];
  });
  return { ...value, ...(Object.fromEntries(moved) as JsonObject) };
}
