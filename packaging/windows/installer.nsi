; The installer: makensis -D VERSION=1.0.0 -D TREE=FOLDER -D OUT=FILE packaging/windows/installer.nsi
; For the user who runs it, without an administrator's rights: the program, the start menu, the types of files, and, on
; request, PATH. /S installs without questions; /D=FOLDER, the last word, names the folder.
Target amd64-unicode  ; as the program is, and wine64 runs it
!include MUI2.nsh
!include LogicLib.nsh
!include WinMessages.nsh

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Headlight"
!define CLASSES "Software\Classes"

Name "Headlight ${VERSION}"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Headlight"
InstallDirRegKey HKCU "Software\Headlight" "Folder"
RequestExecutionLevel user
SetCompressor /SOLID lzma
SetCompressorDictSize 64  ; MB, so that headlight.com costs nothing beside headlight.exe
ManifestDPIAware true
VIProductVersion "${VERSION}.0"
VIAddVersionKey /LANG=1033 "ProductName" "Headlight"
VIAddVersionKey /LANG=1033 "FileDescription" "Headlight: attention of transformers"
VIAddVersionKey /LANG=1033 "FileVersion" "${VERSION}"
VIAddVersionKey /LANG=1033 "LegalCopyright" "The Headlight authors"

!define MUI_ICON "headlight.ico"
!define MUI_UNICON "headlight.ico"
!define MUI_FINISHPAGE_RUN "$INSTDIR\headlight.exe"
!insertmacro MUI_PAGE_LICENSE "${TREE}\LICENSE.txt"
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"

; A type of file: Windows offers Headlight for it, and keeps what the user has set.
!macro Type ENDING
  WriteRegStr HKCU "${CLASSES}\${ENDING}\OpenWithProgids" "Headlight.File" ""
!macroend
!macro un.Type ENDING
  DeleteRegValue HKCU "${CLASSES}\${ENDING}\OpenWithProgids" "Headlight.File"
  DeleteRegKey /ifempty HKCU "${CLASSES}\${ENDING}\OpenWithProgids"
  DeleteRegKey /ifempty HKCU "${CLASSES}\${ENDING}"
!macroend

Section "Headlight" Program
  SectionIn RO
  SetShellVarContext current
  SetOutPath "$INSTDIR"
  File /r "${TREE}/*"
  CreateShortcut "$SMPROGRAMS\Headlight.lnk" "$INSTDIR\headlight.exe"
  WriteRegStr HKCU "Software\Headlight" "Folder" "$INSTDIR"
  WriteRegStr HKCU "${CLASSES}\Headlight.File" "" "Headlight"
  WriteRegStr HKCU "${CLASSES}\Headlight.File\DefaultIcon" "" "$INSTDIR\headlight.exe,0"
  WriteRegStr HKCU "${CLASSES}\Headlight.File\shell\open\command" "" '"$INSTDIR\headlight.exe" open "%1"'
  WriteRegStr HKCU "${CLASSES}\Applications\headlight.exe\shell\open\command" "" '"$INSTDIR\headlight.exe" open "%1"'
  WriteUninstaller "$INSTDIR\uninstall.exe"
  WriteRegStr HKCU "${KEY}" "DisplayName" "Headlight"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\headlight.exe,0"
  WriteRegStr HKCU "${KEY}" "Publisher" "The Headlight authors"
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
SectionEnd

Section "Open sessions, lessons, .safetensors and .npz with Headlight" Types
  !insertmacro Type ".json"
  !insertmacro Type ".safetensors"
  !insertmacro Type ".npz"
SectionEnd

; NSIS cuts a PATH that is longer than its strings, so PowerShell changes it.
Section /o "Put headlight into PATH" Path
  nsExec::Exec `powershell -NoProfile -Command "$$p = [Environment]::GetEnvironmentVariable('Path', 'User'); if (-not (($$p -split ';') -contains '$INSTDIR')) { [Environment]::SetEnvironmentVariable('Path', ($$p.TrimEnd(';') + ';$INSTDIR').TrimStart(';'), 'User') }"`
  Pop $0
  ${If} $0 == 0
    WriteRegDWORD HKCU "Software\Headlight" "Path" 1
  ${Else}
    DetailPrint "PATH stays as it is: PowerShell was not found"
  ${EndIf}
SectionEnd

Section "Uninstall"
  SetShellVarContext current
  ReadRegDWORD $0 HKCU "Software\Headlight" "Path"
  ${If} $0 == 1
    nsExec::Exec `powershell -NoProfile -Command "$$p = [Environment]::GetEnvironmentVariable('Path', 'User'); [Environment]::SetEnvironmentVariable('Path', (($$p -split ';' | Where-Object { $$_ -ne '$INSTDIR' }) -join ';'), 'User')"`
    Pop $0
  ${EndIf}
  !insertmacro un.Type ".json"
  !insertmacro un.Type ".safetensors"
  !insertmacro un.Type ".npz"
  DeleteRegKey HKCU "${CLASSES}\Headlight.File"
  DeleteRegKey HKCU "${CLASSES}\Applications\headlight.exe"
  DeleteRegKey HKCU "${KEY}"
  DeleteRegKey HKCU "Software\Headlight"
  Delete "$SMPROGRAMS\Headlight.lnk"
  ; What the installer brought, and nothing else: a folder that the user chose may hold more.
  Delete "$INSTDIR\headlight.exe"
  Delete "$INSTDIR\headlight.com"
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\README.txt"
  Delete "$INSTDIR\headlight.spdx.json"
  Delete "$INSTDIR\uninstall.exe"
  RMDir /r "$INSTDIR\share\headlight"
  RMDir /r "$INSTDIR\licenses"
  RMDir "$INSTDIR\share"
  RMDir "$INSTDIR"
SectionEnd
