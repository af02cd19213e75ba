// Bundles the page: node build.mjs FOLDER writes head.html, tail.html (between them the program puts the data) and
// NOTICES.txt. Sections are found by name: every file of sections/ is one.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder) {
  console.error("usage: node build.mjs FOLDER");
  process.exit(2);
}

/** What `import ... from "bj:sections"` and "bj:notices" give. */
function virtualModules(notices) {
  const files = readdirSync(join(here, "sections")).filter((name) => name.endsWith(".js")).sort();
  const lines = files.map((name, i) => `import s${i} from "./sections/${name}";`);
  const list = files.map((name, i) => `{ name: ${JSON.stringify(name.slice(0, -3))}, ...s${i} }`);
  const contents = {
    "bj:sections": `${lines.join("\n")}\nexport default [${list.join(", ")}];`,
    "bj:notices": `export default ${JSON.stringify(notices)};`,
  };
  return {
    name: "virtual modules",
    setup(build) {
      build.onResolve({ filter: /^bj:/ }, ({ path }) => ({ path, namespace: "bj" }));
      build.onLoad({ filter: /.*/, namespace: "bj" }, ({ path }) => ({ contents: contents[path], resolveDir: here }));
    },
  };
}

function bundle(notices) {
  return esbuild.build({
    absWorkingDir: here,
    entryPoints: ["main.js"],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "iife",
    target: "es2020",
    charset: "utf8",
    legalComments: "none", // all of them are in the notices
    plugins: [virtualModules(notices)],
  });
}

/** The folders of the packages that are in the bundle, by the files that it was made of. */
function bundledPackages(metafile) {
  const folders = new Set();
  for (const output of Object.values(metafile.outputs))
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
      const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
      if (found && bytesInOutput > 0) folders.add(found[1]);
    }
  return [...folders].sort();
}

/** Who made what is bundled, under which licence. A text that several packages share stands there once. */
function writeNotices(metafile) {
  const texts = new Map();
  for (const folder of bundledPackages(metafile)) {
    const root = join(here, folder);
    const { name, version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const file = readdirSync(root).find((entry) => /^(licen[sc]e|copying)/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    const lines = readFileSync(join(root, file), "utf8").split(/\r?\n/);
    const rights = lines.filter((line) => /^\s*copyright /i.test(line)).map((line) => line.trim());
    const body = lines.filter((line) => !/^\s*copyright /i.test(line)).join("\n").trim().replace(/\s*\n\s*/g, "\n");
    if (!texts.has(body)) texts.set(body, []);
    texts.get(body).push(`${name} ${version} (${license}): ${rights.join("; ")}`);
  }
  return [...texts].map(([body, names]) => `${names.join("\n")}\n\n${body}\n`).join(`\n${"-".repeat(60)}\n\n`);
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

const first = await bundle("");
const notices = writeNotices(first.metafile);
const { outputFiles } = await bundle(notices);
const script = outputFiles[0].text.trim();
if (/<\/script|<!--/i.test(script)) throw new Error("the bundle would end its own <script>");
const css = esbuild.transformSync(readFileSync(join(here, "page.css"), "utf8"), { loader: "css", minify: true }).code.trim();

// Nothing is loaded, and no script runs but this one. Styles may be inline: Plot puts one into each drawing.
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  "style-src 'unsafe-inline'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const [head, tail] = readFileSync(join(here, "page.html"), "utf8")
  .replace("@POLICY@", () => policy)
  .replace("@STYLE@", () => css)
  .replace("@SCRIPT@", () => script)
  .split("@DATA@");
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries({ "NOTICES.txt": notices, "head.html": head, "tail.html": tail }))
  writeFileSync(join(folder, name), text);
