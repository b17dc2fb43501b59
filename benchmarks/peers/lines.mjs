// Serves an engine to node_engine.py: a request a line, [method, ...arguments] in JSON, and an answer a line.
// One world at a time: the request "world" makes it and frees the one before.

import { createInterface } from "node:readline";

// the names of a package: what it holds, and what its classes do
function named(module) {
  const classes = Object.values(module).filter((thing) => typeof thing === "function");
  const owners = [module, ...classes, ...classes.map((made) => made.prototype ?? {})];
  return [...new Set(owners.flatMap((owner) => Object.getOwnPropertyNames(owner)))];
}

export function serve(Engine, module) {
  let engine = null;
  createInterface({ input: process.stdin }).on("line", (line) => {
    const [method, ...given] = JSON.parse(line);
    let answer = null;
    if (method === "world") {
      engine?.free();
      engine = new Engine(...given);
    } else if (method === "named") {
      answer = named(module);
    } else if (method === "clock") {
      const { user, system } = process.cpuUsage(); // us
      answer = 1e-6 * (user + system);
    } else {
      answer = engine[method](...given);
    }
    process.stdout.write(JSON.stringify(answer ?? null) + "\n");
  });
}
