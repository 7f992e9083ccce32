// Why: the API reference is part of the site. This plugin of typedoc names each module by what an import says, sorts its exports
// into categories, turns `@see docs/how-to/….md` of a docstring into a link, and writes the list from which the sidebar is made.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import {
  Application,
  Comment,
  CommentTag,
  Converter,
  DeclarationReflection,
  ReflectionKind,
  RendererEvent,
} from "typedoc";
import { MarkdownPageEvent } from "typedoc-plugin-markdown";
import { titleOf } from "./titles.mjs";

/** The repository: typedoc is run in it. */
const root = process.cwd();
const CATEGORIES = JSON.parse(readFileSync(new URL("categories.json", import.meta.url), "utf8"));
const FRONTMATTER = "---\neditLink: false\npageClass: api\n---\n\n";
/** Where its pages are on the site. */
const API = "reference/api";
/** Fewer exports than this are read faster without headings. */
const FEW = 8;

/** @param {string} file @returns {{ folder: string, path: string }} its package's folder, and the path below `src` */
function place(file) {
  const [folder = "", path = ""] = relative(root, file).split(sep).join("/").split("/src/");
  return { folder, path };
}

/** @param {string} file of an entry */
function moduleName(file) {
  const { folder, path } = place(file);
  const { name } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  return path === "index.ts" ? name : `${name}/${path.replace(/^entry\/|\.ts$/g, "")}`;
}

/** @param {import("typedoc").DeclarationReflection} reflection @param {import("typedoc").ProjectReflection} project */
function categoryOf(reflection, project) {
  const file = project.getSymbolIdFromReflection(reflection)?.fileName;
  if (file === undefined || !existsSync(file)) return undefined;
  const { folder, path } = place(file);
  const names = CATEGORIES[folder.split("/").at(-1) ?? ""] ?? {};
  const [first = ""] = path.split("/");
  return names[first] ?? names[first.replace(/\.ts$/, "")];
}

/** @param {import("typedoc").ProjectReflection} project */
const modulesOf = (project) => project.getChildrenByKind(ReflectionKind.Module);

/** @param {import("typedoc").ProjectReflection} project */
function categorize(project) {
  for (const { children = [] } of modulesOf(project)) {
    if (children.length < FEW) continue;
    for (const child of children) {
      const imported = child.kind === ReflectionKind.Reference;
      const name = imported ? "From other packages" : categoryOf(child, project);
      if (name === undefined) continue;
      // Typedoc reads a function's category from its signatures.
      for (const each of child.signatures ?? [child]) {
        // What has none is a fault, which a comment from here would hide.
        if (imported) each.comment ??= new Comment();
        if (each.comment !== undefined && !each.comment.getTag("@category"))
          each.comment.blockTags.push(new CommentTag("@category", [{ kind: "text", text: name }]));
      }
    }
  }
}

/** `@see docs/how-to/writes.md#dry-run` becomes a link with the page's title. @param {import("typedoc").ProjectReflection} project */
function linkGuides(project) {
  for (const reflection of Object.values(project.reflections))
    for (const tag of reflection.comment?.blockTags ?? []) {
      if (tag.tag !== "@see") continue;
      for (const part of tag.content)
        part.text = part.text.replace(/(?<![\w/(])docs\/([\w./-]+\.md)(#[\w-]+)?/g, (_, page, anchor = "") => {
          return `[${titleOf(join(root, "docs", page))}](/${page}${anchor})`;
        });
    }
}

/** Shows below the title what imports it. @param {unknown} model @param {string} text */
function showImport(model, text) {
  if (!(model instanceof DeclarationReflection) || model.parent?.kind !== ReflectionKind.Module) return text;
  const type = model.kindOf([ReflectionKind.Interface, ReflectionKind.TypeAlias]) ? "type " : "";
  const line = `import ${type}{ ${model.name} } from "${model.parent.name}";`;
  return text.replace(/^# .+\n/m, (title) => `${title}\n\`\`\`ts\n${line}\n\`\`\`\n`);
}

/** A list of exports has the first sentence of each. @param {string} text */
function shorten(text) {
  return text.replace(/^(\| \[[^|]*\| )(.*?[.!?])(?<!e\.g\.|i\.e\.) [A-Z`[].* \|$/gm, "$1$2 |");
}

/** A guide is linked to by its path on the site, which may be at any path. @param {string} page @param {string} text */
function relativeLinks(page, text) {
  const folder = posix.dirname(`${API}/${page}`);
  return text.replace(/\]\(\/([^)\s]+)\)/g, (_, target) => `](${posix.relative(folder, target)})`);
}

/** @param {import("typedoc-plugin-markdown").MarkdownApplication} app */
export function load(app) {
  // Without it typedoc asks for documentation of the package at the root alone.
  app.on(Application.EVENT_BOOTSTRAP_END, () => {
    const manifests = globSync("packages/{*,plugins/*}/package.json", { cwd: root });
    const names = manifests.map((file) => JSON.parse(readFileSync(join(root, file), "utf8")).name);
    app.options.setValue("packagesRequiringDocumentation", names);
  });
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (reflection.kind !== ReflectionKind.Module) return;
    const file = context.project.getSymbolIdFromReflection(reflection)?.fileName;
    if (file !== undefined) reflection.name = moduleName(file);
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => categorize(context.project), 1000);
  app.converter.on(Converter.EVENT_RESOLVE_END, (context) => linkGuides(context.project));
  app.renderer.on(MarkdownPageEvent.END, (page) => {
    const list = page.model instanceof DeclarationReflection && page.model.kind === ReflectionKind.Module;
    const text = list ? shorten(page.contents ?? "") : showImport(page.model, page.contents ?? "");
    page.contents = FRONTMATTER + relativeLinks(page.url, text);
  });
  app.renderer.on(RendererEvent.END, ({ project, outputDirectory }) => {
    const url = (/** @type {import("typedoc").Reflection} */ of) => app.renderer.router?.getFullUrl(of) ?? "";
    const modules = modulesOf(project).map((module) => ({
      name: module.name,
      page: url(module),
      categories: (module.categories ?? [{ title: "", children: module.children ?? [] }]).map(
        ({ title, children }) => ({
          title,
          exports: children
            .filter((child) => child.kind !== ReflectionKind.Reference)
            .map((child) => ({ name: child.name, page: url(child) })),
        }),
      ),
    }));
    writeFileSync(join(outputDirectory, "modules.json"), JSON.stringify(modules));
  });
}
