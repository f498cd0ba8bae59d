// Compiles an ONNX file to the files of a program: embed MODEL.onnx FOLDER.

#include "gpuopt/Import/Onnx/ImportOnnx.h"
#include "gpuopt/Pipelines/Pipelines.h"
#include "gpuopt/Pipelines/RegisterAll.h"
#include "gpuopt/Target/Cxx/EmitProgram.h"

#include <fstream>
#include <iostream>

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  mlir::DialectRegistry registry;
  gpuopt::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  gpuopt::OnnxImportOptions import;
  import.batchSize = 4;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      gpuopt::importOnnxModel(argv[1], context, import);
  if (!module)
    return 1;
  gpuopt::PipelineOptions options;
  mlir::PassManager passes(&context);
  for (gpuopt::Phase phase : gpuopt::allPhases())
    gpuopt::addPhase(passes, phase, options);
  if (mlir::failed(passes.run(*module)))
    return 1;
  mlir::FailureOr<gpuopt::ProgramFiles> files =
      gpuopt::emitProgram(*module, gpuopt::EmissionOptions());
  if (mlir::failed(files))
    return 1;
  for (const auto &[name, content] : *files)
    std::ofstream(std::string(argv[2]) + "/" + name) << content;
  std::cout << "wrote " << files->size() << " files\n";
  return 0;
}
