// Serves an engine to node_engine.py: a request a line, [method, ...arguments] in JSON, and an answer a line.
// One world at a time: the request "world" makes it and frees the one before.

import { createInterface } from "node:readline";

export function serve(Engine) {
  let engine = null;
  createInterface({ input: process.stdin }).on("line", (line) => {
    const [method, ...given] = JSON.parse(line);
    let answer = null;
    if (method === "world") {
      engine?.free();
      engine = new Engine(...given);
    } else if (method === "clock") {
      const { user, system } = process.cpuUsage(); // us
      answer = 1e-6 * (user + system);
    } else {
      answer = engine[method](...given);
    }
    process.stdout.write(JSON.stringify(answer ?? null) + "\n");
  });
}
