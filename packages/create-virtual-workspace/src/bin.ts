#!/usr/bin/env node
// `npm create virtual-workspace@latest my-view`: the first command of a new user.
import { relative } from "node:path";
import { intro, isCancel, outro, select, text } from "@clack/prompts";
import { Command, Option } from "commander";
import { createProject, type Project, ProjectError, version } from "./project.ts";
import { isTemplate, TEMPLATES, type TemplateName } from "./templates.ts";

const PROGRAM = "create-virtual-workspace";
const DEFAULT: TemplateName = "view";

/** Exit code after Ctrl-C, as shells give it. */
const CANCELLED = 130;

interface Flags {
  readonly template?: string;
}

/** Folder and template of the new project, from the command line or from questions in a terminal. */
interface Wanted {
  readonly folder: string;
  readonly template: TemplateName;
}

const command = new Command(PROGRAM)
  .description("Starts a project in a new folder, with types, a test, a Dockerfile and a README.")
  .argument("[folder]", "folder of the project; its name is that of the view")
  .addOption(
    // npm keeps an option without `--` before it for itself, and passes its value in the environment.
    new Option("-t, --template <name>", `kind of project (default in scripts: ${DEFAULT})`)
      .choices(TEMPLATES.map(({ name }) => name))
      .env("npm_config_template"),
  )
  .version(version())
  .addHelpText(
    "after",
    `\nTemplates:\n${TEMPLATES.map(({ name, about }) => `  ${name.padEnd(22)}${about}`).join("\n")}`,
  )
  .showHelpAfterError(`see ${PROGRAM} --help`)
  .action(async (folder: string | undefined, { template }: Flags) => {
    const wanted = await answers(folder, template);
    if (wanted === undefined) process.exitCode = CANCELLED;
    else console.log(nextSteps(wanted, createProject(wanted)));
  });

try {
  await command.parseAsync();
} catch (error) {
  if (!(error instanceof ProjectError)) throw error;
  console.error(`${PROGRAM}: ${error.message}`);
  process.exitCode = 1;
}

/** Asks for what is missing, in a terminal only. Returns `undefined` if the user cancels. */
async function answers(folder: string | undefined, template: string | undefined): Promise<Wanted | undefined> {
  const known = template !== undefined && isTemplate(template) ? template : undefined;
  if (!process.stdin.isTTY || !process.stdout.isTTY || (folder !== undefined && known !== undefined)) {
    if (folder === undefined) throw new ProjectError(`missing folder: npm create virtual-workspace@latest my-view`);
    return { folder, template: known ?? DEFAULT };
  }
  intro(PROGRAM);
  const path =
    folder ?? (await text({ message: "Folder of the project", defaultValue: "my-view", placeholder: "my-view" }));
  if (isCancel(path)) return undefined;
  const options = TEMPLATES.map(({ name, about }) => ({ value: name, label: name, hint: about }));
  const chosen = known ?? (await select({ message: "What do you write?", options, initialValue: DEFAULT }));
  if (isCancel(chosen)) return undefined;
  outro(`${chosen} in ${path}`);
  return { folder: path, template: chosen };
}

/** Returns the commands that come next, for the package manager in use. */
function nextSteps({ folder, template }: Wanted, { name, files, node }: Project): string {
  const manager = /^(pnpm|yarn|bun)\//.exec(process.env["npm_config_user_agent"] ?? "")?.[1] ?? "npm";
  const place = relative(process.cwd(), folder);
  const lines = [`Created ${name} (${template}): ${files.length} files.`, "", "Next:"];
  if (place !== "") lines.push(`  cd ${/^[\w./-]+$/.test(place) ? place : JSON.stringify(place)}`);
  lines.push(`  ${manager} install`, `  ${manager} run dev`);
  const own = process.versions.node;
  if (own.localeCompare(node, "en", { numeric: true }) < 0)
    lines.push("", `This Node.js is ${own}. The project needs ${node} or newer.`);
  return lines.join("\n");
}
