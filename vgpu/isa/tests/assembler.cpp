#include "vgpu/isa/tests/assembler.h"

#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCObjectWriter.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <set>

#include "vgpu/isa/tests/llvm_mc.h"

namespace halyard::vgpu::isa::testing {
namespace {

struct Diagnostics {
  std::string text;
  std::set<unsigned> lines;  // numbered from 1
};

std::vector<uint8_t> assemble(const std::string& text, const std::string& processor,
                              Diagnostics& diagnostics) {
  std::string& error = diagnostics.text;
  error.clear();
  const LlvmMc mc(processor);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text + "\n"), llvm::SMLoc());
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic& diagnostic, void* out) {
        auto& found = *static_cast<Diagnostics*>(out);
        llvm::raw_string_ostream stream(found.text);
        diagnostic.print(nullptr, stream, false);
        found.lines.insert(static_cast<unsigned>(diagnostic.getLineNo()));
      },
      &diagnostics);

  llvm::MCContext context(mc.triple, mc.info.get(), mc.registers.get(), mc.subtarget.get(),
                          &sources, &mc.options);
  const std::unique_ptr<llvm::MCObjectFileInfo> object_info(
      mc.target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(object_info.get());

  llvm::SmallVector<char, 0> object;
  {
    llvm::raw_svector_ostream stream(object);
    std::unique_ptr<llvm::MCAsmBackend> backend(
        mc.target->createMCAsmBackend(*mc.subtarget, *mc.registers, mc.options));
    std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
    std::unique_ptr<llvm::MCCodeEmitter> emitter(
        mc.target->createMCCodeEmitter(*mc.instructions, context));
    const std::unique_ptr<llvm::MCStreamer> streamer(
        mc.target->createMCObjectStreamer(mc.triple, context, std::move(backend), std::move(writer),
                                          std::move(emitter), *mc.subtarget));
    const std::unique_ptr<llvm::MCAsmParser> parser(
        llvm::createMCAsmParser(sources, context, *streamer, *mc.info));
    const std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
        mc.target->createMCAsmParser(*mc.subtarget, *parser, *mc.instructions, mc.options));
    parser->setTargetParser(*target_parser);
    if (parser->Run(/*NoInitialTextSection=*/false)) {
      if (error.empty()) error = "the assembler failed";
      return {};
    }
  }

  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "assembled"));
  if (!file) {
    error = llvm::toString(file.takeError());
    return {};
  }
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    const llvm::StringRef name = llvm::cantFail(section.getName());
    if (name != ".text") continue;
    const llvm::StringRef contents = llvm::cantFail(section.getContents());
    return {contents.bytes_begin(), contents.bytes_end()};
  }
  error = "no .text section";
  return {};
}

}  // namespace

std::vector<uint8_t> assemble(const std::string& text, const std::string& processor,
                              std::string& error) {
  Diagnostics diagnostics;
  std::vector<uint8_t> code = assemble(text, processor, diagnostics);
  error = diagnostics.text;
  return code;
}

std::vector<uint8_t> assemble_valid(std::vector<std::string>& lines, const std::string& processor) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  Diagnostics first;
  std::vector<uint8_t> code = assemble(text, processor, first);
  if (first.lines.empty()) return code;
  std::vector<std::string> valid;
  std::string rest;
  for (unsigned n = 0; n < lines.size(); ++n) {
    if (first.lines.contains(n + 1)) continue;
    valid.push_back(lines[n]);
    rest += lines[n] + "\n";
  }
  lines = valid;
  std::string error;
  return assemble(rest, processor, error);
}

}  // namespace halyard::vgpu::isa::testing
